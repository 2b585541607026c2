/**
 * Describes the machine that a companion runs on: one rule for the SDK and the agent, so that a rollout sees one
 * machine.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Platform } from './platform.js';

/** The runtime identifier of packages for this machine; `any` where there is none. */
export function machinePlatform(system: string = process.platform, arch: string = process.arch): Platform {
  if (system === 'win32' && arch === 'x64') return 'win-x64';
  if (system === 'linux' && arch === 'x64') return 'linux-x64';
  return system === 'linux' && arch === 'arm64' ? 'linux-arm64' : 'any';
}

/** The system's own id of this machine; null when the system has none, or does not tell. */
export async function systemId(): Promise<string | null> {
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
