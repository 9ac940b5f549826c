// The module inside this file, packed, for pages without a bundler. Absent: rooms.

const PACKED = 'MODULE';

export async function loadModule() {
  const bytes = Uint8Array.from(atob(PACKED), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const headers = { 'content-type': 'application/wasm' };
  await glue.init({ module_or_path: new Response(unpacked, { headers }) });
  return glue;
}
