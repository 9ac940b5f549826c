// Service worker: caches the files of the page, so that a returning player can play alone without a
// server.
const STORE = 'gaggle';
// After this time a cached copy is used instead of waiting for the server.
const PATIENCE_MS = 4000;
const KINDS = /\/[^/]*\.(js|css|wasm|png|webmanifest)$/;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()));

// Cache key of a request: the page is one file, whatever its parameters.
function keyOf(request) {
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return null;
  const home = new URL('./', location).pathname;
  if (url.pathname === home || url.pathname === `${home}index.html`) return home;
  return url.pathname.startsWith(home) && KINDS.test(url.pathname) ? url.pathname + url.search : null;
}

async function keep(key, response) {
  if (response.ok) await (await caches.open(STORE)).put(key, response);
}

self.addEventListener('fetch', event => {
  const { request } = event, key = keyOf(request);
  if (!key) return;
  event.respondWith((async () => {
    const copy = await caches.match(key, { cacheName: STORE });
    // A file with a version in its address never changes.
    if (copy && key.includes('?v=')) return copy;
    const fetched = fetch(request).then(response => {
      event.waitUntil(keep(key, response.clone()));
      return response.ok || !copy ? response : copy;
    });
    if (!copy) return fetched;
    const late = new Promise(done => setTimeout(done, PATIENCE_MS, copy));
    return Promise.race([fetched.catch(() => copy), late]);
  })());
});

// The page loaded before this worker existed and reports its files. Other versions are no longer
// needed.
self.addEventListener('message', event => event.waitUntil((async () => {
  const keys = event.data.map(url => keyOf(new Request(url))).filter(Boolean);
  const store = await caches.open(STORE);
  const version = keys.map(key => key.split('?v=')[1]).find(Boolean);
  for (const old of await store.keys()) {
    const had = new URL(old.url).searchParams.get('v');
    if (version && had && had !== version) await store.delete(old);
  }
  for (const key of new Set([new URL('./', location).pathname, ...keys])) {
    if (!(await store.match(key))) await keep(key, await fetch(key));
  }
})()));
