/** What the SDK knows of the machine it runs on: the same as the update agent (contract 90, SDK: `machineId`). */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { machineIdOf } from '../shared/machine-id.js';
import type { Platform } from '../shared/platform.js';
import { removeFile } from './files.js';

/** The runtime identifier of packages for this machine; `any` where there is none. */
export function machinePlatform(system: string = process.platform, arch: string = process.arch): Platform {
  if (system === 'win32' && arch === 'x64') return 'win-x64';
  if (system === 'linux' && arch === 'x64') return 'linux-x64';
  return system === 'linux' && arch === 'arm64' ? 'linux-arm64' : 'any';
}

/** 64 hex digits: derived from what the system calls this machine, else from a random text that is kept in the folder. */
export const machineIdFor = async (project: string, folder: string): Promise<string> =>
  machineIdOf(project, (await systemId()) ?? (await keptId(folder)));

async function systemId(): Promise<string | null> {
  if (process.platform === 'win32') return machineGuid();
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (/^[0-9a-f]{32}$/.test(text.trim())) return text.trim();
  }
  return null;
}

async function machineGuid(): Promise<string | null> {
  const reg = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\reg.exe`;
  const query = ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid'];
  const { stdout } = await promisify(execFile)(reg, query).catch(() => ({ stdout: '' }));
  return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(stdout)?.[1] ?? null;
}

/** By a link, which fails where the name exists, so that processes that start together agree on one text. */
export async function keptId(folder: string): Promise<string> {
  const path = join(folder, 'machine-id');
  const fresh = randomUUID();
  const temporary = `${path}.${fresh}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, fresh, { mode: 0o600 });
    await link(temporary, path);
    return fresh;
  } catch {
    return (await readFile(path, 'utf8').catch(() => '')).trim() || fresh;
  } finally {
    removeFile(temporary);
  }
}
