/**
 * What later updates need is kept in `agent.json`: the server, the license key, and what was allowed. Never a password.
 */
import { AgentFailure } from '../exit.js';
import { readConfig } from '../options/config-file.js';
import { writeWhole } from '../system/files.js';
import type { Installation } from '../update/installation.js';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** @param replace options of this run go before what the file says; else what it says stays */
export async function keepOptions(
  { agent, layout }: Pick<Installation, 'agent' | 'layout'>,
  { replace }: { replace: boolean } = { replace: false },
): Promise<void> {
  const { server, licenseKey, allowHttp, requireSigned, username, passwordFile, machineId } = agent.options;
  const path = join(layout.own, 'agent.json');
  const found = await readConfig(path, false).catch((error: unknown) => {
    if (error instanceof AgentFailure && !replace) return undefined; // Somebody else's: it stays as it is.
    throw error;
  });
  if (found === undefined) return;
  const before = found?.values ?? {};
  const values: Record<string, unknown> = {
    ...(server !== null && { server: server.href }),
    ...(licenseKey !== null && { 'license-key': licenseKey }),
    ...(username !== null && passwordFile !== null && { username, 'password-file': passwordFile }),
    ...(machineId !== null && { 'machine-id': machineId }),
    ...(allowHttp && { 'allow-http': true }),
    ...(requireSigned && { 'require-signed': true }),
  };
  const known = new Set(Object.keys(before).map((name) => name.replaceAll('_', '-')));
  const added = Object.entries(values).filter(([name]) => replace || !known.has(name));
  if (added.length === 0) return;
  const names = new Set(added.map(([name]) => name));
  const rest = Object.entries(before).filter(([name]) => !names.has(name.replaceAll('_', '-')));
  await mkdir(layout.own, { recursive: true, mode: 0o700 });
  await writeWhole(path, `${JSON.stringify(Object.fromEntries([...rest, ...added]), null, 2)}\n`);
}
