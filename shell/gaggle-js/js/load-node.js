// The module beside this file, for Node. Absent: rooms.

export async function loadModule() {
  const { readFile } = await import('node:fs/promises');
  glue.initSync({ module: await readFile(new URL('testing_bg.wasm', import.meta.url)) });
  return glue;
}
