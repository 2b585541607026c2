import { printable } from '../../lib/text/printable.js';
import { Console, type ConsoleStream } from './console.js';
import { EXIT, PackagerFailure } from './failure.js';
import { readSettings, USAGE } from './options.js';
import { runPackager } from './packaging.js';

const NAMES = {
  [EXIT.done]: 'done',
  [EXIT.error]: 'error',
  [EXIT.latest]: 'latest_unreadable',
  [EXIT.versionMismatch]: 'version_mismatch',
  [EXIT.refused]: 'refused',
  [EXIT.usage]: 'usage',
} as const;

/**
 * @param argv without node and the script
 * @param terminal output streams
 * @returns the exit code
 */
export async function run(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: { stdout: ConsoleStream; stderr: ConsoleStream },
): Promise<number> {
  const output = new Console(argv.includes('--json'), terminal.stdout, terminal.stderr);
  try {
    const settings = await readSettings(argv, env);
    if (settings === null) {
      terminal.stdout.write(USAGE);
      return EXIT.done;
    }
    const outcome = await runPackager(settings, output, env['SOURCE_DATE_EPOCH']);
    output.result({ status: 'success', dry_run: settings.dryRun, ...outcome });
    return EXIT.done;
  } catch (error) {
    const failure = error instanceof PackagerFailure ? error : new PackagerFailure(EXIT.error, unexpected(error));
    output.error(failure.message);
    output.result({
      status: 'error',
      error: { code: NAMES[failure.exit], message: printable(failure.message, 2_000) },
    });
    return failure.exit;
  }
}

/** For example an unreadable file or a full disk; the system's message names it. */
const unexpected = (error: unknown): string => (error instanceof Error ? `${error.message}.` : String(error));
