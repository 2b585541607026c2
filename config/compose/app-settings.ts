import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import { packageRoot } from '../load.js';
import type { AppSettings } from '../../kernel/contract.js';
import { listenUrl } from './places.js';
import type { Setup } from './setup.js';

export async function version(): Promise<string> {
  const text = await readFile(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

export async function makeAppSettings({ mode, config }: Setup): Promise<AppSettings> {
  const { host, port, base_url } = config.server;
  // Links and DSNs of a command lead to the running server, which may have picked its port.
  const beside = mode === 'command' ? await InstanceLock.running(config.data_dir) : null;
  return {
    version: await version(),
    base_url: base_url ?? beside?.url ?? listenUrl(host, port),
    timezone: config.app.timezone,
    debug: config.app.debug,
    shared_key: config.security.shared_key,
    webhook_key: config.security.webhook_key,
    limits: { ...config.limits },
    grouping: { ...config.grouping },
  };
}
