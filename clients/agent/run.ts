import { dirname } from 'node:path';
import { rejectAfterCrash, toCrash } from './crash.js';
import { getErrorCode, EXIT_CODES, toAgentFailure } from './exit.js';
import { DEFAULT_HOOKS, type Hooks } from './hooks.js';
import { readOptions, type CheckedOptions } from './options/index.js';
import { formatHelp, type Action, type Env } from './options/table.js';
import { AgentOutput, type OutputStream } from './output.js';
import { configureInstallation } from './actions/configure.js';
import { installRelease } from './actions/install.js';
import { setUpMonitoring } from './actions/monitor.js';
import { recoverInstallation } from './actions/recover.js';
import { rollBackInstallation } from './actions/rollback.js';
import { scheduleUpdates } from './actions/schedule.js';
import { runUpdate } from './actions/update.js';
import { isChild, toChildOptions, ParentChannel, ProxiedNetwork } from './owner/child.js';
import { runAsOwner, findOwner } from './owner/parent.js';
import { DirectNetwork } from './net/network.js';
import type { Agent } from './update/installation.js';
import { controlService } from './update/service.js';

const VERSION = process.env.AOS_AGENT_VERSION ?? 'development';

const ACTION_HANDLERS: Readonly<Record<Action, (agent: Agent) => Promise<void>>> = {
  update: runUpdate,
  install: installRelease,
  configure: configureInstallation,
  monitor: setUpMonitoring,
  recover: recoverInstallation,
  rollback: rollBackInstallation,
  schedule: scheduleUpdates,
};

/**
 * @param argv without node and the script
 * @param ownFile the running program's own file
 * @param hooks overridden by tests
 * @param terminal output streams
 * @returns the exit code
 */
export async function runAgent(
  argv: readonly string[],
  env: Env,
  ownFile: string,
  hooks: Hooks = DEFAULT_HOOKS,
  terminal: { stdout: OutputStream; stderr: OutputStream } = process,
): Promise<number> {
  const isJson = argv.includes('--json') || ['true', '1'].includes(env.SVC_JSON ?? '');
  let output = new AgentOutput(terminal.stdout, terminal.stderr, isJson);
  const cancel = new AbortController();
  const stop = (): void => cancel.abort();
  // An uncaught error of a library callback unwinds the run as if it had been canceled.
  const crash = (error: unknown): void => cancel.abort(toCrash(error));
  process.on('SIGINT', stop).on('SIGTERM', stop).on('uncaughtException', crash).on('unhandledRejection', crash);
  try {
    const around = { hooks, signal: cancel.signal, ownFile };
    const started = isChild(env) ? await startAsChild(env) : await startDirectly(argv, env, around);
    output = new AgentOutput(terminal.stdout, terminal.stderr, started.options.json);
    return await runAction({ ...around, ...started, output });
  } catch (error) {
    return reportEnd(output, error);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop).off('uncaughtException', crash).off('unhandledRejection', crash);
  }
}

type StartContext = Pick<Agent, 'options' | 'env' | 'control' | 'network'>;

async function startDirectly(
  argv: readonly string[],
  env: Env,
  { hooks, signal, ownFile }: Pick<Agent, 'hooks' | 'signal' | 'ownFile'>,
): Promise<StartContext> {
  const options: CheckedOptions = await readOptions(argv, env, dirname(ownFile));
  return {
    options,
    env,
    network: new DirectNetwork(options, env, hooks, signal),
    control: (verb, service) => controlService(verb, service, env),
  };
}

async function startAsChild(env: Env): Promise<StartContext> {
  const { parent, order } = await ParentChannel.connect();
  return {
    options: toChildOptions(order),
    env: { ...env, ...order.settings },
    network: new ProxiedNetwork(parent),
    control: parent.controlService,
  };
}

async function runAction(agent: Agent): Promise<number> {
  const { options, output } = agent;
  if (options.help) {
    output.printPlain(formatHelp());
    return EXIT_CODES.done;
  }
  if (options.version) {
    output.printPlain(`update-agent ${VERSION}\n`);
    return EXIT_CODES.done;
  }
  // Nightly update units always belong to root.
  const isOwn = (options.action === 'install' && !options.dirGiven) || options.action === 'schedule';
  const owner = isOwn ? null : await findOwner(options.dir);
  if (owner !== null) return runAsOwner(owner, agent);
  for (const warning of options.warnings) output.warn(warning);
  const work = ACTION_HANDLERS[options.action](agent);
  await (['update', 'rollback'].includes(options.action) ? work : rejectAfterCrash(work, agent));
  output.reportDone();
  return EXIT_CODES.done;
}

function reportEnd(output: AgentOutput, error: unknown): number {
  const failure = toAgentFailure(error);
  const code = EXIT_CODES[failure.outcome];
  if (failure.outcome === 'unauthorized') output.reportUnauthorized(failure.message);
  else output.reportFailed(failure.outcome, code, failure.message || getErrorCode(error));
  return code;
}
