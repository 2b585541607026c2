// Builds the font files: Inter in the weights and features that pages use, because a first visit
// pays for each byte. Browsers load the second file only for pages with letters of Central Europe
// and other Latin alphabets.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import subsetFont from 'subset-font';

const PACKAGE = '@fontsource-variable/inter';
const WEIGHTS = { min: 400, max: 700 };
/** Kerning, composed letters, tabular figures, and what locales and contexts need. */
const FEATURES = ['kern', 'mark', 'mkmk', 'ccmp', 'locl', 'tnum', 'calt'];
const SUBSETS = [
  { file: 'inter-latin-wght-normal.woff2', name: 'inter.woff2' },
  { file: 'inter-latin-ext-wght-normal.woff2', name: 'inter-ext.woff2' },
];

/**
 * Writes the font files and their license.
 * @param {string} folder
 * @returns {Promise<string>} the `@font-face` rules
 */
export async function buildFonts(folder) {
  const root = dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  const css = await readFile(join(root, 'index.css'), 'utf8');
  await mkdir(folder, { recursive: true });
  await copyFile(join(root, 'LICENSE'), join(folder, 'inter-license.txt'));
  const faces = await Promise.all(
    SUBSETS.map(async ({ file, name }) => {
      const range = new RegExp(`${file.replaceAll('.', '\\.')}[^}]*unicode-range: ([^;]+);`).exec(css)?.[1];
      if (range === undefined) throw new Error(`${PACKAGE} has no face for ${file}`);
      const font = await readFile(join(root, 'files', file));
      const options = { targetFormat: 'woff2', variationAxes: { wght: WEIGHTS }, keepFeatures: FEATURES };
      const subset = await subsetFont(font, listCharacters(range), options);
      await writeFile(join(folder, name), subset);
      // The version of the helper `asset`, so that a preloaded file is the one that the style sheet
      // names.
      const version = createHash('sha256').update(subset).digest('hex').slice(0, 16);
      return (
        `@font-face{font-family:Inter;font-style:normal;font-weight:${WEIGHTS.min} ${WEIGHTS.max};font-display:swap;` +
        `src:url(${name}?v=${version}) format("woff2");unicode-range:${range}}`
      );
    }),
  );
  return faces.join('\n');
}

function listCharacters(ranges) {
  let text = '';
  for (const range of ranges.split(',')) {
    const [first, last = first] = range.replace('U+', '').split('-');
    for (let code = parseInt(first, 16); code <= parseInt(last, 16); code++) text += String.fromCodePoint(code);
  }
  return text;
}
