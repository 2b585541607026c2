/**
 * Runs a command whose arguments are valid. The build bundles this with all dependencies
 * (program.ts).
 */
import { open, readFile, stat } from 'node:fs/promises';
import type { CommandSpec } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import { toPrintable } from '../../lib/text/printable.js';
import type * as Asked from './asked-table.js';
import type { Composition, DataTransfer } from './composition.js';
import { exitSoon } from './process-exit.js';
import { EXIT_CODES, printFailure, printResult } from './output.js';
import { OWN_COMMANDS } from './own-commands.js';
import { parseCommand } from './usage.js';

async function readStdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk as string;
  return text.replace(/\r?\n$/, '');
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** @throws ServiceError validation_failed */
async function withFileErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    throw invalid({ file: `cannot be read: ${code === 'ENOENT' ? 'it does not exist' : code}` });
  }
}

const readFileText = (path: string): Promise<string> =>
  withFileErrors(async () => {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) throw invalid({ file: 'is larger than 16 MiB' });
    return readFile(path, 'utf8');
  });

const SQLITE_HEADER = 'SQLite format 3\0';

async function readTables(
  composition: Composition,
  path: string,
  tables: readonly string[],
): Promise<ReturnType<DataTransfer['readTables']> | null> {
  return withFileErrors(async () => {
    const file = await open(path);
    try {
      const { buffer } = await file.read(Buffer.alloc(SQLITE_HEADER.length), 0, SQLITE_HEADER.length, 0);
      if (buffer.toString('latin1') !== SQLITE_HEADER) return null;
    } finally {
      await file.close();
    }
    return (await composition.loadDataTransfer()).readTables(path, tables);
  });
}

const printProgress = (line: string): void => void process.stderr.write(`${toPrintable(line)}\n`);

async function execute(composition: Composition, spec: CommandSpec, rest: readonly string[]): Promise<number> {
  const { args, options, json } = parseCommand(spec, rest);
  if (spec.name === 'serve') return (await import('./serve.js')).runServer(composition, json, options);
  try {
    const result = await spec.run({
      args,
      options,
      stdin: readStdin,
      read: readFileText,
      readTables: (path, tables) => readTables(composition, path, tables),
      progress: printProgress,
    });
    printResult(result, json);
    return result.exit ?? EXIT_CODES.ok;
  } catch (error) {
    exitSoon();
    return printFailure(error, json, spec);
  }
}

async function runMounted(composition: Composition, name: string, rest: readonly string[]): Promise<number> {
  const { withService } = await import('./service.js');
  return withService(composition, { threads: false }, async ({ kernel }) => {
    const found = kernel.listCommands().find(({ spec }) => spec.name === name);
    if (found === undefined) throw new Error(`command "${name}" does not exist`);
    if (found.reason !== null) throw new Error(`the plugin of the command has failed: ${found.reason}`);
    return execute(composition, found.spec, rest);
  });
}

export async function loadCommandTable(composition: Composition): ReturnType<typeof Asked.loadCommandTable> {
  return (await import('./asked-table.js')).loadCommandTable(composition);
}

export async function perform(composition: Composition, name: string, rest: readonly string[]): Promise<number> {
  try {
    const load = OWN_COMMANDS[name];
    if (load === undefined) return await runMounted(composition, name, rest);
    const own = await load();
    return await execute(composition, { ...own, run: (call) => own.run(call, composition) }, rest);
  } catch (error) {
    exitSoon();
    return printFailure(error, rest.includes('--json'));
  }
}
