/**
 * Generates `config/default.json` and `docs/configuration.md`; test/config/docs.test.ts compares
 * them.
 */
import type joi from 'joi';
import { coreSchema } from './schema.js';
import { configVariables, type ConfigTree } from './sources.js';

interface DescribedSchema {
  type: string;
  flags?: { description?: string; default?: unknown; unit?: string };
  keys?: Record<string, DescribedSchema>;
  metas?: { env?: string; secret?: boolean; envOnly?: boolean }[];
  allow?: unknown[];
}

export interface ConfigSection {
  id: string;
  title: string;
  schema: joi.ObjectSchema;
}

export function listConfigSections(
  plugins: readonly { id: string; section?: string; title: string; config?: joi.ObjectSchema }[],
): ConfigSection[] {
  return plugins
    .flatMap(({ id, section = id, title, config }) =>
      config === undefined ? [] : [{ id: section, title, schema: config }],
    )
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function getDefaults(schema: DescribedSchema): ConfigTree {
  return Object.fromEntries(
    Object.entries(schema.keys ?? {}).map(([key, member]) => [
      key,
      member.keys ? getDefaults(member) : (member.flags?.default ?? null),
    ]),
  );
}

export function buildDefaults(plugins: readonly ConfigSection[]): ConfigTree {
  const whole = getDefaults(coreSchema.describe() as DescribedSchema);
  for (const { id, schema } of plugins) whole[id] = getDefaults(schema.describe() as DescribedSchema);
  return whole;
}

export function renderDefaults(plugins: readonly ConfigSection[]): string {
  const text = JSON.stringify(buildDefaults(plugins), null, 2);
  const flat = text.replace(/\[\n\s+([^[\]{}]+)\n\s+\]/g, (whole, members: string) => {
    const line = `[${members.replace(/\n\s+/g, ' ')}]`;
    return line.length <= 80 ? line : whole;
  });
  return `${flat}\n`;
}

const toVariableName = (path: string): string =>
  [...configVariables].find(([, named]) => named === path)?.[0] ??
  (path.includes('.') ? `SVC_${path.toUpperCase().split('.').join('__')}` : '');

function renderRow(path: string, member: DescribedSchema): string {
  const { description = '', default: value, unit } = member.flags ?? {};
  const text = [description, unit ? `Unit: ${unit}.` : ''].filter(Boolean).join(' ');
  const variable = toVariableName(path);
  const shown = value === null || value === undefined ? 'not given' : `\`${JSON.stringify(value)}\``;
  return `| \`${path}\` | ${shown} | ${variable ? `\`${variable}\`` : 'a file only'} | ${text.replaceAll('|', '\\|')} |`;
}

function renderRows(schema: DescribedSchema, at: string): string[] {
  return Object.entries(schema.keys ?? {}).flatMap(([key, member]) => {
    const path = at === '' ? key : `${at}.${key}`;
    return member.keys ? renderRows(member, path) : [renderRow(path, member)];
  });
}

const PAGE_HEADER = `# Configuration

<!-- Made by scripts/configuration.mjs from config/schema.ts and the plugins' manifests. Do not edit. -->

<!-- prettier-ignore-start -->

Sources, each laid over the one before: \`config/default.json\` (every key), \`config/local.json\`, the file named by
\`SVC_CONFIG\`, the environment. Objects are merged member by member; lists and values are replaced.

The environment: the variables below, their \`…_FILE\` forms (the value is the content of that file, without its last line
break), and \`SVC_<SECTION>__<KEY>\` for every other key. Numbers and \`true\`/\`false\` are read as such, lists as JSON
(\`SVC_SERVER__TRUSTED_PROXIES='["10.0.0.0/8"]'\`). A variable set to the empty string counts as set. Other \`SVC_\`
variables belong to the companion programs and are left alone; one that no program knows is named in the log of a start
and by \`aos doctor\`.

An unknown or malformed key stops the start with exit code 1 and one line on stderr: the key, the problem, the source.
`;

const TABLE_HEADER = '| Key | Default | Variable | Meaning |\n|---|---|---|---|\n';

export function renderDocs(plugins: readonly ConfigSection[]): string {
  const core = coreSchema.describe() as DescribedSchema;
  const parts = [PAGE_HEADER, `\n## The service\n\n${TABLE_HEADER}${renderRows(core, '').join('\n')}\n`];
  for (const { id, title, schema } of plugins) {
    const lines = renderRows(schema.describe() as DescribedSchema, id);
    if (lines.length > 0) parts.push(`\n## ${title} (\`${id}\`)\n\n${TABLE_HEADER}${lines.join('\n')}\n`);
  }
  parts.push('\n<!-- prettier-ignore-end -->\n');
  return parts.join('');
}
