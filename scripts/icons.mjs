// Builds the icon sprite: the logo, and the Lucide icons that web/icons.json names.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const STROKE_WIDTH = '1.75';

/**
 * @param {string} web folder with icons.json and assets/logo.svg
 * @returns {Promise<string>}
 */
export async function buildIconSprite(web) {
  const names = JSON.parse(await readFile(join(web, 'icons.json'), 'utf8'));
  const lucide = createRequire(import.meta.url)('@iconify-json/lucide/icons.json');
  const logo = await readFile(join(web, 'assets', 'logo.svg'), 'utf8');
  const symbols = Object.entries(names).map(([name, source]) => {
    const target = lucide.aliases[source]?.parent ?? source;
    const icon = lucide.icons[target];
    if (icon === undefined) throw new Error(`web/icons.json: Lucide has no icon "${source}"`);
    return `<symbol id="i-${name}" viewBox="0 0 24 24">${setStrokeWidth(icon.body)}</symbol>`;
  });
  const mark = logo.replace(/^<svg[^>]*>/, '').replace(/<\/svg>\s*$/, '');
  return [
    '<svg xmlns="http://www.w3.org/2000/svg">',
    `<symbol id="i-logo" viewBox="0 0 32 32">${mark}</symbol>`,
    ...symbols,
    '</svg>\n',
  ].join('\n');
}

const setStrokeWidth = (body) => body.replaceAll('stroke-width="2"', `stroke-width="${STROKE_WIDTH}"`);
