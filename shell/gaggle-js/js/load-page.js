// The module beside this file, for pages. Absent: rooms.

export async function loadModule(from) {
  // Bundlers take the module along, because its address is written like this.
  await glue.init({ module_or_path: from ?? new URL('./gaggle_bg.wasm', import.meta.url) });
  return glue;
}
