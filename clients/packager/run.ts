import { toPrintable } from '../../lib/text/printable.js';
import { PackagerConsole, type ConsoleStream } from './console.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';
import { readSettings, USAGE_TEXT } from './options.js';
import { runPackager } from './packaging.js';

const EXIT_NAMES = {
  [EXIT_CODES.done]: 'done',
  [EXIT_CODES.error]: 'error',
  [EXIT_CODES.latest]: 'latest_unreadable',
  [EXIT_CODES.versionMismatch]: 'version_mismatch',
  [EXIT_CODES.refused]: 'refused',
  [EXIT_CODES.usage]: 'usage',
} as const;

/**
 * @param argv without node and the script
 * @param terminal output streams
 * @returns the exit code
 */
export async function runCommand(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: { stdout: ConsoleStream; stderr: ConsoleStream },
): Promise<number> {
  const output = new PackagerConsole(argv.includes('--json'), terminal.stdout, terminal.stderr);
  try {
    const settings = await readSettings(argv, env);
    if (settings === null) {
      terminal.stdout.write(USAGE_TEXT);
      return EXIT_CODES.done;
    }
    const outcome = await runPackager(settings, output, env['SOURCE_DATE_EPOCH']);
    output.printResult({ status: 'success', dry_run: settings.dryRun, ...outcome });
    return EXIT_CODES.done;
  } catch (error) {
    const failure =
      error instanceof PackagerFailure ? error : new PackagerFailure(EXIT_CODES.error, formatUnexpectedError(error));
    output.printError(failure.message);
    output.printResult({
      status: 'error',
      error: { code: EXIT_NAMES[failure.exit], message: toPrintable(failure.message, 2_000) },
    });
    return failure.exit;
  }
}

/** For example an unreadable file or a full disk; the system's message names it. */
const formatUnexpectedError = (error: unknown): string =>
  error instanceof Error ? `${error.message}.` : String(error);
