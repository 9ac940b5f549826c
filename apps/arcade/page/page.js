// Main script: fetches the requested game and does what only a page can do. The module of a game
// calls it through `host`.

// Changes with every build, so files whose address contains it may be cached forever.
const version = 'VERSION';
const games = ['gander', 'drake', 'millpond', 'skein'];
const root = document.documentElement;
const canvas = document.getElementById('arcade');
const asked = new URLSearchParams(location.search).get('game');
const loaded = {};
let shown;

const able = (navigator.share ? 1 : 0) | (document.fullscreenEnabled ? 2 : 0);

const host = {
  switch: switchTo,
  share: url => navigator.share({ title: document.title, url }).catch(() => {}),
  fullscreen: () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen()).catch(() => {}),
};

const codeOf = game => `arcade-${game}_bg.wasm?v=${version}`;

// Each game is a module of its own, fetched on demand: WASM and JavaScript side by side.
async function load(game) {
  try {
    const code = fetch(codeOf(game));
    const [glue, response] = await Promise.all([import(`./arcade-${game}.js?v=${version}`), code]);
    if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
    await glue.default({ module_or_path: response });
    return glue;
  } catch (error) {
    delete loaded[game];
    // A module that arrives but does not compile is a different error than a failed fetch.
    error.isLost = !/Compile|Link|Runtime|Syntax/.test(error.name);
    // A damaged cached copy is fetched again.
    if (!error.isLost) await window.caches?.open('gaggle').then(store => store.delete(codeOf(game))).catch(() => {});
    throw error;
  }
}

async function turnOn(game) {
  const next = await (loaded[game] ??= load(game));
  shown?.close();
  next.open((what, value) => host[what](value), !shown, able);
  shown = next;
  document.title = `${game[0].toUpperCase()}${game.slice(1)} · Gaggle`;
  canvas.focus();
}

async function switchTo(game) {
  try {
    await turnOn(game);
  } catch (error) {
    shown.miss(game, !!error.isLost);
    console.error(error);
  }
}

// Starts the game in the address. If it names none and the default cannot be fetched, a cached one.
async function begin() {
  try {
    await turnOn(games.includes(asked) ? asked : games[0]);
  } catch (error) {
    if (!error.isLost || asked) throw error;
    for (const game of games) {
      if (await window.caches?.match(codeOf(game), { cacheName: 'gaggle' })) return turnOn(game);
    }
    throw error;
  }
}

// Keeps the screen of a phone on during play.
let lock;
async function stayAwake() {
  const wanted = canvas.dataset.screen === 'match' && !document.hidden;
  if (wanted === !!lock) return;
  if (wanted) {
    lock = navigator.wakeLock?.request('screen').catch(() => {});
  } else {
    const held = lock;
    lock = undefined;
    (await held)?.release();
  }
}
new MutationObserver(stayAwake).observe(canvas, { attributeFilter: ['data-screen'] });
document.addEventListener('visibilitychange', stayAwake);

// Caches what was fetched, so that the page opens and plays alone without a server.
async function keepForLater() {
  if (!navigator.serviceWorker) return;
  await navigator.serviceWorker.register('sw.js');
  const { active } = await navigator.serviceWorker.ready;
  const files = performance.getEntriesByType('resource').map(entry => entry.name);
  active.postMessage([...files, ...['manifest.webmanifest', 'icon-192.png'].map(name => new URL(name, location).href)]);
}

const lacks = typeof WebAssembly !== 'object' ? 'WebAssembly' : document.createElement('canvas').getContext('2d') ? '' : 'a canvas';
if (lacks) {
  fail(`The arcade does not start in this browser: it has no ${lacks}. A newer browser has.`, false);
} else {
  try {
    await begin();
    root.dataset.ready = 'yes';
    requestAnimationFrame(() => keepForLater().catch(error => console.warn(error)));
  } catch (error) {
    fail(error.isLost ? 'The game could not be downloaded. Is there a connection?' : 'The game was downloaded and does not start. If trying again does not help, a newer browser may.', true);
    console.error(error);
  }
}
