/** One run of the agent: options, action, exit code. */
import { dirname } from 'node:path';
import { codeOf, EXIT, failureOf } from './exit.js';
import { HOOKS, type Hooks } from './hooks.js';
import { helpText, readOptions, type Action, type Env } from './options.js';
import { Output, type Sink } from './output.js';
import { configure } from './actions/configure.js';
import { install } from './actions/install.js';
import { monitor } from './actions/monitor.js';
import { recoverOnly } from './actions/recover.js';
import { update } from './actions/update.js';
import { asOwner, ownerToBecome, parentControl } from './as-owner.js';
import type { Agent } from './update/installation.js';
import { controlService } from './update/service.js';

/** Written into the executables by their build. */
const VERSION = process.env.AOS_AGENT_VERSION ?? 'development';

const ACTIONS: Readonly<Record<Action, (agent: Agent) => Promise<void>>> = {
  update,
  install,
  configure,
  monitor,
  recover: recoverOnly,
};

/**
 * @param argv without node and the script
 * @param ownFile the running program's own file
 * @param hooks a test's; a program gives none
 * @param terminal where it prints
 * @returns the exit code
 */
export async function run(
  argv: readonly string[],
  env: Env,
  ownFile: string,
  hooks: Hooks = HOOKS,
  terminal: { stdout: Sink; stderr: Sink } = process,
): Promise<number> {
  let output = new Output(terminal.stdout, terminal.stderr, argv.includes('--json'));
  const cancel = new AbortController();
  const stop = (): void => cancel.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    const options = await readOptions(argv, env, dirname(ownFile));
    output = new Output(terminal.stdout, terminal.stderr, options.json);
    return await act({
      options,
      env,
      output,
      hooks,
      signal: cancel.signal,
      ownFile,
      control: parentControl() ?? controlService,
    });
  } catch (error) {
    return end(output, error);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

async function act(agent: Agent): Promise<number> {
  const { options, output } = agent;
  if (options.help) {
    output.plain(helpText());
    return EXIT.done;
  }
  if (options.version) {
    output.plain(`update-agent ${VERSION}\n`);
    return EXIT.done;
  }
  // Where `install` has yet to be told its directory the current one decides nothing.
  const owner = options.action === 'install' && !options.dirGiven ? null : await ownerToBecome(options.dir);
  if (owner !== null) return asOwner(owner, agent);
  await ACTIONS[options.action](agent);
  output.release();
  return EXIT.done;
}

function end(output: Output, error: unknown): number {
  const failure = failureOf(error);
  const code = EXIT[failure.outcome];
  if (failure.outcome === 'unauthorized') output.unauthorized(failure.message);
  else output.failed(failure.outcome, code, failure.message || codeOf(error));
  return code;
}
