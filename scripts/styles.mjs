// Builds the shipped style sheets: ours joined in order, and the used part of the CSS kit.
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PurgeCSS } from 'purgecss';

/** Classes that third-party plugin pages may rely on (web/README.md, classes). */
const PROMISED = new RegExp(
  `^(${[
    'row|row-cards|col|col-auto|col-(sm-|md-|lg-)?\\d+|container-fluid|g-[0-5]',
    '[mp][tbsexy]?-[0-5]|gap-[0-5]|vstack|hstack|d-(none|block|inline|flex|inline-flex|grid)|flex-(wrap|fill|column)',
    '(align-items|justify-content)-(start|center|end|between)|text-(start|center|end|nowrap|truncate|break)|fw-(bold|semibold)',
    '(text|bg)-(primary|secondary|danger|warning|info|success)|bg-(primary|secondary|danger|warning|info|success)-lt',
    'btn|btn-(outline-)?(primary|secondary|danger|warning|success)|btn-(sm|link|icon|action|list|group)',
    'badge|alert|alert-(info|success|warning|danger|icon|heading)|list-group|list-group-(item|flush)|progress|progress-bar',
    'card|card-(header|title|body|footer|table|sm|actions)|datagrid|datagrid-(item|title|content)|status|status-dot',
    'table|table-(responsive|vcenter|sm)|nav|nav-(item|link|bordered)|dropdown|dropdown-(menu|item|header|divider)',
    'form-(label|control|select|check|check-input|check-label|hint|switch)|input-group|input-group-text|is-invalid|invalid-feedback',
    'active|disabled|visually-hidden|small|html|body',
  ].join('|')})$`,
);

/** Parts of the kit that no page has, but whose names are words in scripts and templates. */
const UNUSED = [/^(steps?|step-.*|legend|signal|signal-.*)$/];

/**
 * Returns the kit's style sheet without unused rules.
 * @param {string} dist the built tree
 * @returns {Promise<string>}
 */
export async function buildKitStyles(dist) {
  const file = createRequire(import.meta.url).resolve('@tabler/core/dist/css/tabler.min.css');
  const [purged] = await new PurgeCSS().purge({
    content: ['web/**/*.{hbs,js}', 'plugins/**/*.hbs', 'adapters/hapi/pages/*.js'].map((glob) => join(dist, glob)),
    css: [{ raw: (await readFile(file, 'utf8')).replace(/\/\*#.*?\*\//g, '') }],
    safelist: { standard: [PROMISED] },
    blocklist: UNUSED,
    defaultExtractor: (text) => text.match(/[\w-]+/g) ?? [],
    variables: true,
    keyframes: true,
    fontFace: true,
  });
  return purged.css;
}

/**
 * Returns the general styles as one file, in the order of their names.
 * @param {string} folder
 * @returns {Promise<string>}
 */
export async function buildOwnStyles(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.css')).toSorted();
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
}
