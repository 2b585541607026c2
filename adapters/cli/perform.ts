/**
 * Runs a command whose arguments are valid. The build bundles this with all dependencies
 * (program.ts).
 */
import { open, readFile, stat } from 'node:fs/promises';
import type { CommandCall, CommandSpec } from '../../kernel/contract.js';
import { invalid } from '../../kernel/errors.js';
import { printable } from '../../lib/text/printable.js';
import type * as Asked from './asked-table.js';
import { endSoon } from './ending.js';
import { EXIT, printFailure, printResult } from './output.js';
import { OWN } from './own.js';
import { parse } from './usage.js';

async function stdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk as string;
  return text.replace(/\r?\n$/, '');
}

const MAX_FILE = 16 * 1024 * 1024;

/**
 * Reports system errors as faults of the argument.
 * @throws ServiceError validation_failed
 */
async function readNamed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    throw invalid({ file: `cannot be read: ${code === 'ENOENT' ? 'it does not exist' : code}` });
  }
}

const read = (path: string): Promise<string> =>
  readNamed(async () => {
    const { size } = await stat(path);
    if (size > MAX_FILE) throw invalid({ file: 'is larger than 16 MiB' });
    return readFile(path, 'utf8');
  });

const SQLITE = 'SQLite format 3\0';

const readTables: NonNullable<CommandCall['readTables']> = (path, tables) =>
  readNamed(async () => {
    const file = await open(path);
    try {
      const { buffer } = await file.read(Buffer.alloc(SQLITE.length), 0, SQLITE.length, 0);
      if (buffer.toString('latin1') !== SQLITE) return null;
    } finally {
      await file.close();
    }
    return (await import('../../config/compose/data-transfer.js')).readTables(path, tables);
  });

const progress = (line: string): void => void process.stderr.write(`${printable(line)}\n`);

async function execute(spec: CommandSpec, rest: readonly string[]): Promise<number> {
  const { args, options, json } = parse(spec, rest);
  if (spec.name === 'serve') return (await import('./serve.js')).runServer(json, options);
  try {
    const result = await spec.run({ args, options, stdin, read, readTables, progress });
    printResult(result, json);
    return result.exit ?? EXIT.ok;
  } catch (error) {
    endSoon();
    return printFailure(error, json, spec);
  }
}

async function runMounted(name: string, rest: readonly string[]): Promise<number> {
  const { withService } = await import('./service.js');
  return withService({ threads: false }, async ({ kernel }) => {
    const found = kernel.commands().find(({ spec }) => spec.name === name);
    if (found === undefined) throw new Error(`there is no command "${name}"`);
    if (found.reason !== null) throw new Error(`the command's plugin has failed: ${found.reason}`);
    return execute(found.spec, rest);
  });
}

export async function askedTable(): ReturnType<typeof Asked.askedTable> {
  return (await import('./asked-table.js')).askedTable();
}

export async function perform(name: string, rest: readonly string[]): Promise<number> {
  try {
    const own = OWN[name];
    return own === undefined ? await runMounted(name, rest) : await execute(await own(), rest);
  } catch (error) {
    endSoon();
    return printFailure(error, rest.includes('--json'));
  }
}
