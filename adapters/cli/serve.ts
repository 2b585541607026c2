/** With `--json` its document is printed once it listens, and the log goes to stderr. */
import { join, relative, sep } from 'node:path';
import { loadConfig, type ResolvedConfig } from '../../config/load.js';
import { applyOption } from '../../config/sources.js';
import type { CommandCall } from '../../kernel/contract/index.js';
import type { Composition, OwnCommand, ServiceStart } from './composition.js';
import { findExistingFolder } from './data-directory.js';
import { exitWithin, STORE_LOST_TIMEOUT_MS, ignoreOutputErrors, waitForStopSignal } from './process-exit.js';
import { readSupervisorEnv } from '../../config/supervisor-env.js';
import { EXIT_CODES } from './output.js';
import { handlePluginErrors } from './plugin-faults.js';
import { SupervisorNotifier } from './supervisor.js';

export const serveCommand: OwnCommand = {
  name: 'serve',
  summary: 'Run the service',
  options: {
    port: { type: 'string', value: 'port', summary: 'TCP port to listen on; 0 picks a free one', env: 'SVC_PORT' },
    host: { type: 'string', value: 'address', summary: 'Address to listen on', env: 'SVC_HOST' },
    'data-dir': {
      type: 'string',
      value: 'folder',
      summary: 'Data directory of the service',
      env: 'SVC_DATA_DIR',
    },
    config: { type: 'string', value: 'file', summary: 'JSON configuration file', env: 'SVC_CONFIG' },
  },
  run: async ({ options }, composition) => ({
    json: {},
    text: '',
    exit: await runServer(composition, false, options),
  }),
};

function printStarted({ address, firstAdmin }: ServiceStart, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ url: address, pid: process.pid, first_admin: firstAdmin })}\n`);
    return;
  }
  if (firstAdmin !== null) {
    process.stdout.write(`first administrator: ${firstAdmin.username}\n`);
    if (firstAdmin.password !== null)
      process.stdout.write(`password: ${firstAdmin.password}   (shown once; change it under /account)\n`);
  }
  process.stdout.write(`listening on ${address}\n`);
}

async function printNewStore({ data_dir, storage: { file } }: ResolvedConfig): Promise<void> {
  if (file === null || (await findExistingFolder(file)) === file) return;
  const inside = relative('', data_dir);
  const folder = inside.startsWith('..') ? data_dir : inside;
  process.stdout.write(`Creating the store in ${join(folder, sep)}…\n`);
}

export async function runServer(
  composition: Composition,
  json: boolean,
  options: CommandCall['options'] = {},
): Promise<number> {
  for (const [name, { env }] of Object.entries(serveCommand.options ?? {})) {
    const value = options[name];
    if (env !== undefined && typeof value === 'string') applyOption(env, value, `option --${name}`);
  }
  const signal = waitForStopSignal();
  const { compose } = await composition.loadComposer();
  const configuration = await loadConfig();
  const outlive = handlePluginErrors();
  const service = outlive(await compose('serve', { configuration, ...(json && { logTo: 'stderr' }) }));
  // Also during startup; a failed stop is reported below.
  signal.then(() => service.stop()).catch(() => undefined);
  const supervisor = new SupervisorNotifier(readSupervisorEnv(), (reason) =>
    process.stderr.write(`systemd was not notified: ${reason}\n`),
  );
  if (!json) await printNewStore(configuration.core);
  const started = await service.boot();
  // The first password is shown once: a start that cannot print it fails.
  if (!started.firstAdmin?.password) ignoreOutputErrors();
  try {
    printStarted(started, json);
    ignoreOutputErrors();
    await supervisor.notifyReady();
    const lost = await Promise.race([signal.then(() => false), service.lost.then(() => true)]);
    if (!lost) return EXIT_CODES.ok;
    exitWithin(STORE_LOST_TIMEOUT_MS);
    return EXIT_CODES.error;
  } finally {
    await supervisor.notifyStopping();
    await service.stop();
  }
}
