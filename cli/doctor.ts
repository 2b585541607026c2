/** `aos doctor`: looks at what usually goes wrong, and says how to mend it. Changes nothing. */
import { access, constants } from 'node:fs/promises';
import type { CommandSpec } from '../kernel/contract.js';
import type { Service } from '../main.js';
import { EXIT } from './output.js';
import { withService } from './service.js';

interface Finding {
  check: string;
  ok: boolean;
  detail: string;
  /** What to do; null when all is well. */
  mend: string | null;
}

const MIN_FREE_BYTES = 512 * 1024 * 1024;

async function finding(
  check: string,
  mend: string,
  look: () => Promise<{ ok: boolean; detail: string }>,
): Promise<Finding> {
  try {
    const { ok, detail } = await look();
    return { check, ok, detail, mend: ok ? null : mend };
  } catch (error) {
    return { check, ok: false, detail: (error as Error).message, mend };
  }
}

function findings({ config, kernel }: Service): Promise<Finding[]> {
  const { system } = kernel;
  return Promise.all([
    finding('node', 'install Node 20.19 or newer', async () => {
      const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
      return { ok: major > 20 || (major === 20 && minor >= 19), detail: process.version };
    }),
    finding('data directory', `make ${config.data_dir} writable for this user`, async () => {
      await access(config.data_dir, constants.R_OK | constants.W_OK);
      return { ok: true, detail: config.data_dir };
    }),
    finding('disk', 'free some space: the store stops when the disk is full', async () => {
      const free = await system.freeBytes();
      return { ok: free >= MIN_FREE_BYTES, detail: `${Math.round(free / 1024 / 1024)} MiB free` };
    }),
    finding('store', 'check storage.url and that the database answers', async () => {
      const ms = await system.pingStore();
      return { ok: true, detail: `${system.engine}, answers in ${ms.toFixed(1)} ms` };
    }),
    finding('migrations', 'run: aos migrate', async () => {
      const { pending } = await system.migrations();
      return {
        ok: pending.length === 0,
        detail: pending.length === 0 ? 'none pending' : `pending: ${pending.join(', ')}`,
      };
    }),
    finding('plugins', 'mend the plugin that failed, or take it out of `plugins`', async () => {
      const failed = system.plugins().filter((p) => p.state === 'failed');
      return {
        ok: failed.length === 0,
        detail:
          failed.map((p) => `${p.id}: ${p.reason}`).join('; ') ||
          `${system.plugins().filter((p) => p.state !== 'off').length} ready`,
      };
    }),
    finding('shared key', 'set SVC_SHARED_KEY to at least 32 random characters, or leave it empty', async () => {
      const length = config.security.shared_key.length;
      return {
        ok: length === 0 || length >= 16,
        detail: length === 0 ? 'none: server-to-server calls are off' : 'set',
      };
    }),
  ]);
}

export const doctor: CommandSpec = {
  name: 'doctor',
  summary: 'Say what is wrong with this installation and how to mend it.',
  run: () =>
    withService({ migrate: false }, async (service) => {
      const items = await findings(service);
      const wrong = items.filter((item) => !item.ok);
      const lines = items.map(
        (item) =>
          `${item.ok ? 'ok   ' : 'WRONG'} ${item.check.padEnd(15)} ${item.detail}${item.mend === null ? '' : `\n      → ${item.mend}`}`,
      );
      return {
        json: { items, ok: wrong.length === 0 },
        text: lines.join('\n'),
        exit: wrong.length === 0 ? EXIT.ok : EXIT.error,
      };
    }),
};
