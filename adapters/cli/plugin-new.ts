/** `aos plugin new <name> [--js]`: creates a plugin from `templates/plugin`. */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { findPackageRoot } from '../../config/load.js';
import { refuse } from '../../kernel/contract/index.js';
import type { Composer, OwnCommand } from './composition.js';
import { handlePluginErrors } from './plugin-faults.js';
import { UsageError } from './usage.js';

/** Name of the folder and package; the id is the name without hyphens. */
const NAME_PATTERN = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_ID_LENGTH = 32;
interface PluginNames {
  name: string;
  id: string;
  title: string;
}

async function listTakenNames({ BUILTIN, composeInMemory }: Composer): Promise<ReadonlySet<string>> {
  const own = ['kernel', 'jobs', 'plugin', 'assets', ...BUILTIN.map(({ id }) => id)];
  try {
    const outlive = handlePluginErrors();
    const service = outlive(await composeInMemory());
    await service.boot({ migrate: false });
    const { kernel } = service;
    await service.stop();
    const ids = kernel.system.listPlugins().map(({ id }) => id);
    const pages = kernel.listPages().map(({ spec }) => spec.path.split('/')[1] ?? '');
    const commands = kernel.listCommands().map(({ spec }) => spec.name.split(' ')[0] ?? '');
    return new Set([...own, ...ids, ...pages, ...commands]);
  } catch {
    // Faults in the configuration or a plugin must not prevent creating a new one.
    return new Set(own);
  }
}

/** @throws UsageError */
async function parseNames(composer: Composer, name: string): Promise<PluginNames> {
  const id = name.replaceAll('-', '');
  const wrong = (problem: string): never => {
    throw new UsageError(`"${name}" ${problem}`, 'Usage: aos plugin new <name> [--js] [--json]');
  };
  if (!NAME_PATTERN.test(name)) wrong('must be lower-case letters and digits, a letter first, words joined by hyphens');
  if (id.length < 2 || id.length > MAX_ID_LENGTH) wrong(`must have 2 to ${MAX_ID_LENGTH} letters and digits`);
  if ((await listTakenNames(composer)).has(id))
    wrong('is in use by the service or one of its plugins: choose another name');
  return { name, id, title: `${id[0]?.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}` };
}

const listFiles = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
};

function buildPackageJson(text: string, name: string, version: string, service: string | null): string {
  const { devDependencies = {}, ...meta } = JSON.parse(text) as { devDependencies?: Record<string, string> };
  const needed = { ...devDependencies, ...(service !== null && { aos: `file:${service}` }) };
  const whole = {
    ...meta,
    name,
    peerDependencies: { aos: `^${version}` },
    ...(Object.keys(needed).length > 0 && { devDependencies: needed }),
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

async function buildFiles({ name, id, title }: PluginNames, kind: 'ts' | 'js'): Promise<Map<string, string>> {
  const templates = join(findPackageRoot(), 'adapters', 'cli', 'templates', 'plugin');
  const files = new Map<string, string>();
  const add = async (from: string, to = ''): Promise<void> => {
    for (const path of await listFiles(join(templates, from))) {
      const text = await readFile(join(templates, from, path), 'utf8');
      const filled = text.replaceAll('sample', id).replaceAll('Sample', title).replaceAll('FOLDER', name);
      files.set(join(to, path), filled);
    }
  };
  await add('common');
  // Compiled in advance, so that it runs before its compiler is installed.
  if (kind === 'ts') await add(join('js', 'src'), 'dist');
  await add(kind);
  files.set('.gitignore', kind === 'ts' ? 'node_modules/\ndist/\n' : 'node_modules/\n');
  return files;
}

function canResolveService(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', 'aos');
    if (existsSync(candidate)) return realpathSync(candidate) === realpathSync(findPackageRoot());
    if (at === dirname(at)) return false;
  }
}

/** As `npm install` would. */
async function linkService(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await symlink(findPackageRoot(), join(folder, 'node_modules', 'aos'), 'junction');
}

export const pluginNewCommand: OwnCommand = {
  name: 'plugin new',
  summary: 'Create a new plugin in ./<name>: TypeScript, or plain JavaScript with --js',
  args: ['name'],
  options: { js: { type: 'boolean', summary: 'Use plain JavaScript, without a compiler' } },
  run: async ({ args, options }, composition) => {
    const composer = await composition.loadComposer();
    const names = await parseNames(composer, String(args[0]));
    const kind = options['js'] === true ? 'js' : 'ts';
    const folder = join(process.cwd(), names.name);
    if (existsSync(folder))
      throw refuse(409, 'conflict', `./${names.name} already exists: choose another name, or remove it.`);
    const files = await buildFiles(names, kind);
    const found = canResolveService(process.cwd());
    const service = found ? null : relative(folder, findPackageRoot());
    const version = await composer.readVersion();
    files.set('package.json', buildPackageJson(files.get('package.json') ?? '{}', names.name, version, service));
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text, { flag: 'wx' });
    }
    if (!found) await linkService(folder);
    const written = [...files.keys()].toSorted();
    const next = [
      `add it to the configuration: { "plugins": ["./${names.name}"] }`,
      `cd ${names.name} && ${kind === 'ts' ? 'npm install && ' : ''}npm test`,
    ];
    return {
      json: { name: names.name, id: names.id, folder, files: written, next },
      text: [
        `wrote ./${names.name}:`,
        ...written.map((path) => `  ${path}`),
        'next:',
        ...next.map((step) => `  ${step}`),
      ].join('\n'),
    };
  },
};
