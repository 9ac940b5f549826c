#!/usr/bin/env node
// `npm create gaggle FOLDER`: copies the template. Absent: what the game does.

import { existsSync, statSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HELP = `npm create gaggle FOLDER [-- --gaggle-js WHERE]

Makes a game for two players in FOLDER: Vite, TypeScript, a test.

  --gaggle-js WHERE  Version, tarball or folder of the package gaggle-js`;

const args = process.argv.slice(2);
const at = args.indexOf('--gaggle-js');
const gaggle = at >= 0 ? args.splice(at, 2)[1] : '^VERSION';
const [folder] = args;

if (!folder || folder.startsWith('-') || !gaggle) {
  console.log(HELP);
  process.exit(folder === '--help' || folder === '-h' ? 0 : 2);
}

const to = resolve(folder);
const name = basename(to).toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 32).replace(/-+$/, '') || 'game';
await mkdir(to, { recursive: true });
if ((await readdir(to)).length > 0) {
  console.error(`${to} is not empty; give another folder`);
  process.exit(1);
}
await cp(fileURLToPath(new URL('template', import.meta.url)), to, { recursive: true });
// npm leaves files of this name out of packages.
await rename(join(to, '_gitignore'), join(to, '.gitignore'));
const isFolder = existsSync(gaggle) && statSync(gaggle).isDirectory();
for (const file of ['package.json', 'index.html', 'src/game.ts']) {
  const path = join(to, file);
  const text = await readFile(path, 'utf8');
  const where = existsSync(gaggle) ? `file:${resolve(gaggle)}` : gaggle;
  await writeFile(path, text.replaceAll('GAME', name).replaceAll('GAGGLE_JS', where));
}
// A link to a folder elsewhere is outside of what Vite serves; a copy is not.
if (isFolder) await writeFile(join(to, '.npmrc'), 'install-links=true\n');
console.log(`${name} is in ${to}. Next:

  cd ${folder}
  npm install
  npm run dev    # a local server and the page; open its address, then the link in it
  npm test`);
