// Copies the files of examples/on-call into the marked code blocks of docs/plugin-example.md; a
// test compares them.
//
// node scripts/plugin-guide.mjs
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const root = join(import.meta.dirname, '..');
const guide = join(root, 'docs', 'plugin-example.md');
const BLOCK = /(<!-- (examples\/on-call\/\S+) -->\n\n```(\w+)\n)[^]*?\n```/g;

let text = await readFile(guide, 'utf8');
for (const [block, head, file] of text.matchAll(BLOCK)) {
  const source = (await readFile(join(root, file), 'utf8')).trimEnd();
  text = text.replace(block, () => `${head}${source}\n\`\`\``);
}
await writeFile(guide, await format(text, { ...(await resolveConfig(guide)), filepath: guide }));
