import { dirname } from 'node:path';
import { rejectAfterCrash, toCrash } from './crash.js';
import { codeOf, EXIT, failureOf } from './exit.js';
import { HOOKS, type Hooks } from './hooks.js';
import { readOptions, type CheckedOptions } from './options.js';
import { helpText, type Action, type Env } from './options/table.js';
import { Output, type Sink } from './output.js';
import { configure } from './actions/configure.js';
import { install } from './actions/install.js';
import { monitor } from './actions/monitor.js';
import { recoverOnly } from './actions/recover.js';
import { schedule } from './actions/schedule.js';
import { update } from './actions/update.js';
import { isChild, optionsOf, Parent, ParentsNetwork } from './owner/child.js';
import { asOwner, ownerToBecome } from './owner/parent.js';
import { DirectNetwork } from './net/network.js';
import type { Agent } from './update/installation.js';
import { controlService } from './update/service.js';

const VERSION = process.env.AOS_AGENT_VERSION ?? 'development';

const ACTIONS: Readonly<Record<Action, (agent: Agent) => Promise<void>>> = {
  update,
  install,
  configure,
  monitor,
  recover: recoverOnly,
  schedule,
};

/**
 * @param argv without node and the script
 * @param ownFile the running program's own file
 * @param hooks overridden by tests
 * @param terminal output streams
 * @returns the exit code
 */
export async function run(
  argv: readonly string[],
  env: Env,
  ownFile: string,
  hooks: Hooks = HOOKS,
  terminal: { stdout: Sink; stderr: Sink } = process,
): Promise<number> {
  const said = argv.includes('--json') || ['true', '1'].includes(env.SVC_JSON ?? '');
  let output = new Output(terminal.stdout, terminal.stderr, said);
  const cancel = new AbortController();
  const stop = (): void => cancel.abort();
  // An uncaught error of a library callback unwinds the run as if it had been canceled.
  const crash = (error: unknown): void => cancel.abort(toCrash(error));
  process.on('SIGINT', stop).on('SIGTERM', stop).on('uncaughtException', crash).on('unhandledRejection', crash);
  try {
    const around = { hooks, signal: cancel.signal, ownFile };
    const started = isChild(env) ? await asChild(env) : await asItself(argv, env, around);
    output = new Output(terminal.stdout, terminal.stderr, started.options.json);
    return await act({ ...around, ...started, output });
  } catch (error) {
    return end(output, error);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop).off('uncaughtException', crash).off('unhandledRejection', crash);
  }
}

type Started = Pick<Agent, 'options' | 'env' | 'control' | 'network'>;

async function asItself(
  argv: readonly string[],
  env: Env,
  { hooks, signal, ownFile }: Pick<Agent, 'hooks' | 'signal' | 'ownFile'>,
): Promise<Started> {
  const options: CheckedOptions = await readOptions(argv, env, dirname(ownFile));
  return {
    options,
    env,
    network: new DirectNetwork(options, env, hooks, signal),
    control: (verb, service) => controlService(verb, service, env),
  };
}

async function asChild(env: Env): Promise<Started> {
  const { parent, order } = await Parent.met();
  return {
    options: optionsOf(order),
    env: { ...env, ...order.settings },
    network: new ParentsNetwork(parent),
    control: parent.control,
  };
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
  // While `install` has no directory yet, the current one decides nothing. Nightly update units
  // always belong to root.
  const isOwn = (options.action === 'install' && !options.dirGiven) || options.action === 'schedule';
  const owner = isOwn ? null : await ownerToBecome(options.dir);
  if (owner !== null) return asOwner(owner, agent);
  for (const warning of options.warnings) output.warning(warning);
  const work = ACTIONS[options.action](agent);
  await (options.action === 'update' ? work : rejectAfterCrash(work, agent));
  output.done();
  return EXIT.done;
}

function end(output: Output, error: unknown): number {
  const failure = failureOf(error);
  const code = EXIT[failure.outcome];
  if (failure.outcome === 'unauthorized') output.unauthorized(failure.message);
  else output.failed(failure.outcome, code, failure.message || codeOf(error));
  return code;
}
