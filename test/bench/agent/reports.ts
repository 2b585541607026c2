/**
 * Reports of the planted bugs as an SDK makes them of real errors: frames with their source, and
 * arguments as locals.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PlantedBug } from './planted.js';

/** Lines of source on each side of a frame's line, as SDKs send them. */
const AROUND = 5;
const FRAME = /at (?:(?:async )?([\w.$]+) )?\(?(?:file:\/\/)?(\/[^():]+):(\d+):(\d+)\)?$/;

/** Runs a module of the shop. @param times makes the module new, as after a start */
export async function running(folder: string, { name, args }: PlantedBug, times: number): Promise<unknown> {
  const address = `${pathToFileURL(join(folder, 'src', `${name}.mjs`)).href}?${times}`;
  const { run } = (await import(address)) as { run: (...given: unknown[]) => unknown };
  return run(...args);
}

interface SentFrame {
  filename: string;
  function: string;
  lineno: number;
  in_app: boolean;
  context_line?: string;
  pre_context?: string[];
  post_context?: string[];
  vars?: Record<string, unknown>;
}

function framesOf(error: Error, folder: string, args: readonly unknown[]): SentFrame[] {
  const frames = (error.stack ?? '').split('\n').flatMap((line) => {
    const [, called = '?', path = '', at = '0'] = FRAME.exec(line.replace(/\?\d+/, '')) ?? [];
    if (!path.startsWith(folder)) return [];
    const source = readFileSync(path, 'utf8').split('\n');
    const n = Number(at) - 1;
    return [
      {
        filename: path.slice(folder.length + 1),
        function: called,
        lineno: n + 1,
        in_app: true,
        pre_context: source.slice(Math.max(0, n - AROUND), n),
        context_line: source[n] ?? '',
        post_context: source.slice(n + 1, n + 1 + AROUND),
        ...(called === 'run' && { vars: { arguments: args.map((arg) => JSON.stringify(arg) ?? String(arg)) } }),
      },
    ];
  });
  return frames.toReversed();
}

/** The frames of the web framework below, which every trace of a server has. */
const framework = (n: number): SentFrame[] =>
  Array.from({ length: n }, (_, at) => ({
    filename: `node_modules/express/lib/router/layer.js`,
    function: `Layer.handle${at}`,
    lineno: 90 + at,
    in_app: false,
    context_line: '    fn(req, res, next);',
  }));

/** An event of a bug's error. @param n which occurrence of it */
export async function eventOf(
  bug: PlantedBug,
  folder: string,
  id: string,
  n: number,
): Promise<Record<string, unknown>> {
  const error = await running(folder, bug, 0).then(
    () => null,
    (thrown: unknown) => thrown as Error,
  );
  if (error === null) throw new Error(`${bug.name}: the planted bug does not fail`);
  // A stack that overflowed is the same frame again and again.
  const frames = framesOf(error, folder, bug.args).slice(-12);
  return {
    event_id: id,
    timestamp: Date.now() / 1000,
    platform: 'node',
    level: n % 2 === 0 ? 'error' : 'fatal',
    environment: 'production',
    release: `shop@1.${4 + (n % 3)}.0`,
    server_name: `web-${1 + (n % 2)}`,
    transaction: `POST /${bug.name}`,
    exception: {
      values: [{ type: error.name, value: error.message, stacktrace: { frames: [...framework(14), ...frames] } }],
    },
    breadcrumbs: ['navigation', 'fetch', 'console', 'ui.click'].map((category, at) => ({
      timestamp: Date.now() / 1000 - at,
      category,
      level: 'info',
      message: at === 2 && bug.order !== undefined ? bug.order : `${category} before ${bug.name}, request ${n}`,
    })),
    tags: { region: n % 2 === 0 ? 'eu' : 'us' },
    contexts: { runtime: { name: 'node', version: process.version }, os: { name: 'Linux' } },
    extra: { request: n, ...(bug.order !== undefined && { note: bug.order }) },
    sdk: { name: 'sentry.javascript.node', version: '10.0.0' },
  };
}
