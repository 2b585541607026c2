/**
 * Small programs with Sentry's real SDKs, one per language. Those for Python, Java, Go and Rust
 * need what `prepare.sh` gets; the Node SDK is one of the project's own packages.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHORT_RUN_JAVA_OPTIONS } from '../../support/programs.js';
import { isRequired } from '../../support/requirements.js';

/** What `prepare.sh` filled; its default is the same. */
export const CACHE = process.env['SVC_TEST_SDKS'] ?? join(tmpdir(), `aos-test-sdks-${userInfo().uid}`);
export const REQUIRED = isRequired('sdks');
export const MODES = ['report', 'limited', 'cases'] as const;
export type Mode = (typeof MODES)[number];

export interface Program {
  /** Its project too. */
  name: string;
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  /** Its language may be missing; recorded envelopes then replace it. */
  optional?: true;
  /** What the error of `report` is. */
  expected: { type: string; file: RegExp; function: string; cause: string };
  /** Of `cases`: each group's title, its file, and how many reports it counted. */
  cases?: readonly (readonly [title: string, file: string, hits: number])[];
}

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const NODE: Program = {
  name: 'node',
  command: process.execPath,
  args: [source('node/main.mjs')],
  expected: { type: 'CartError', file: /\/node\/main\.mjs$/, function: 'total', cause: 'TypeError' },
};

const NO_JSON = 'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)';

export const OTHERS: readonly Program[] = [
  {
    name: 'python',
    command: 'python3',
    args: [source('python/main.py')],
    env: { PYTHONPATH: join(CACHE, 'python'), PYTHONDONTWRITEBYTECODE: '1' },
    expected: { type: 'CartError', file: /^main\.py$/, function: 'total', cause: 'KeyError' },
    cases: [
      [`JSONDecodeError: ${NO_JSON}`, 'main.py', 1],
      [`JSONDecodeError: ${NO_JSON}`, 'main.py', 1],
      ['ExceptionGroup: prices', 'main.py', 1],
      ['login of alice failed', 'null', 2],
    ],
  },
  {
    name: 'java',
    command: 'java',
    args: [...SHORT_RUN_JAVA_OPTIONS, '-cp', join(CACHE, 'java', 'lib', '*'), source('java/Main.java')],
    expected: {
      type: 'Main$CartException',
      file: /^shop\/cart\/Main\.java$/,
      function: 'shop.cart.Main.total',
      cause: 'NullPointerException',
    },
  },
  {
    name: 'go',
    command: join(CACHE, 'go', 'shop'),
    args: [],
    expected: {
      type: '*main.CartError',
      file: /\/go\/main\.go$/,
      function: 'main.total',
      cause: 'Caused by: there is no price',
    },
    cases: [
      ["CartError: the cart 'A-1001' has no price", 'main.go', 1],
      ["CartError: the cart 'A-1002' has no price", 'main.go', 1],
      ['StockError: the stock is unknown', 'main.go', 1],
      ['checkout: there is no price', 'main.go', 1],
    ],
  },
  {
    name: 'rust',
    optional: true,
    command: join(CACHE, 'rust', 'shop'),
    args: [],
    expected: {
      type: 'CartError',
      file: /\/rust\/src\/main\.rs$/,
      function: 'shop::total',
      cause: 'NoPrice: there is no price',
    },
    cases: [
      ['Error: there is no price', 'main.rs', 1],
      ['NoPrice: there is no price', 'main.rs', 1],
      ['ParseIntError: invalid digit found in string', 'main.rs', 1],
    ],
  },
];

export const isPrepared = ({ name }: Program): boolean => existsSync(join(CACHE, name, '.complete'));

/** Runs a program to its end. @throws when it does not end well */
export function run({ command, args, env }: Program, mode: Mode, dsn: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args, mode, dsn], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const note = (chunk: Buffer): void => void (output += chunk.toString('utf8'));
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && output.includes('done')) resolve();
      else reject(new Error(`${command} ${mode} exited with ${code}: ${output.slice(0, 4000)}`));
    });
  });
}
