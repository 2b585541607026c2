/**
 * Templates as they ship: the compiled tree holds copies of every view beside the code that renders
 * it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';
import { createHelpers } from '../../web/helpers/index.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const NOW = Date.parse('2026-11-20T08:15:30.123Z');
/** How the HTTP adapter compiles (web/README.md). */
export const COMPILE = { explicitPartialContext: true, preventIndent: true };

export interface Template {
  file: string;
  source: string;
}

/** Files below `folder` whose names end with `end`. */
export function filesBelow(folder: string, end: string): string[] {
  const all: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) all.push(...filesBelow(path, end));
    else if (entry.name.endsWith(end)) all.push(path);
  }
  return all.toSorted();
}

export function templates(): Template[] {
  return ['web', 'plugins']
    .flatMap((folder) => filesBelow(join(root, folder), '.hbs'))
    .map((path) => ({ file: relative(root, path), source: readFileSync(path, 'utf8') }));
}

/** The partial name of a template, or null for other templates. */
export function partialOf(file: string): string | null {
  const name = basename(file, '.hbs');
  if (file.startsWith(join('web', 'partials'))) return name;
  const plugin = /^plugins\/([^/]+)\/views\/parts\//.exec(file)?.[1];
  return plugin === undefined ? null : `${plugin}/${name}`;
}

export function engine(timezone = 'Europe/Zurich'): typeof Handlebars {
  const own = Handlebars.create();
  // The adapter's own helper; what it adds to the address is no matter here.
  own.registerHelper('asset', (path: unknown) => `/assets/${String(path)}`);
  for (const [name, helper] of Object.entries(createHelpers({ timezone, now: () => NOW })))
    own.registerHelper(name, helper);
  for (const { file, source } of templates()) {
    const name = partialOf(file);
    if (name !== null) own.registerPartial(name, source);
  }
  return own;
}

let shared: typeof Handlebars | undefined;

/** One template text, rendered. */
export function render(source: string, context: object = {}): string {
  shared ??= engine();
  return shared.compile(source, COMPILE)(context);
}

/** A file below the root (`web/layouts/app.hbs`), rendered. */
export function renderFile(file: string, context: object = {}): string {
  return render(readFileSync(join(root, file), 'utf8'), context);
}
