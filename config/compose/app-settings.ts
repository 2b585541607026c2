import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import { findPackageRoot } from '../load.js';
import type { AppSettings } from '../../kernel/contract/index.js';
import type { Setup } from './setup.js';

/** `server.base_url` (contract 00, configuration). */
function formatListenUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export async function readVersion(): Promise<string> {
  const text = await readFile(join(findPackageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

export async function makeAppSettings({ mode, config }: Setup): Promise<AppSettings> {
  const { host, port, base_url } = config.server;
  // Links and DSNs of a command lead to the running server, which may have picked its port.
  const runningServer = mode === 'command' ? await InstanceLock.readRunningServer(config.data_dir) : null;
  return {
    version: await readVersion(),
    base_url: base_url ?? runningServer?.url ?? formatListenUrl(host, port),
    timezone: config.app.timezone,
    debug: config.app.debug,
    shared_key: config.security.shared_key,
    webhook_key: config.security.webhook_key,
    limits: { ...config.limits },
    grouping: { ...config.grouping },
  };
}
