/**
 * Stores options for later updates in `agent.json`: the server, the license key and granted
 * permissions. Never a password.
 */
import { readConfig } from '../options/config-file.js';
import { writeFileAtomically } from '../system/files.js';
import type { Installation } from '../update/installation.js';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

const getConfigPath = (layout: Installation['layout']): string => join(layout.own, 'agent.json');

/** @throws AgentFailure when the existing file cannot be read, so nothing can be added to it */
export async function checkStoredOptions(layout: Installation['layout']): Promise<void> {
  await readConfig(getConfigPath(layout), false);
}

/** @param replace options of this run override the file; otherwise the file's values stay */
export async function storeOptions(
  { agent, layout }: Pick<Installation, 'agent' | 'layout'>,
  { replace }: { replace: boolean } = { replace: false },
): Promise<void> {
  const { server, licenseKey, allowHttp, requireSigned, username, passwordFile, machineId } = agent.options;
  const path = getConfigPath(layout);
  const found = await readConfig(path, false);
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
  await writeFileAtomically(path, `${JSON.stringify(Object.fromEntries([...rest, ...added]), null, 2)}\n`);
}
