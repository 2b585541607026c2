/** Machine detection shared by SDK and agent. */
import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Platform } from './platform.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Returns this machine's package platform; `any` when unsupported. */
export function detectMachinePlatform(system: string = process.platform, arch: string = process.arch): Platform {
  if (system === 'win32' && arch === 'x64') return 'win-x64';
  if (system === 'linux' && arch === 'x64') return 'linux-x64';
  return system === 'linux' && arch === 'arm64' ? 'linux-arm64' : 'any';
}

const MAX_MACHINE_ID_LENGTH = 128;

/**
 * Returns `SVC_MACHINE_ID`, a persistent id for a container.
 * @throws TypeError for more than 128 characters, or control characters
 */
export function getConfiguredMachineId(env: Env): string | null {
  const id = env['SVC_MACHINE_ID']?.trim() ?? '';
  if (id.length > MAX_MACHINE_ID_LENGTH || /\p{Cc}/u.test(id))
    throw new TypeError(`SVC_MACHINE_ID must be one line of at most ${MAX_MACHINE_ID_LENGTH} characters`);
  return id === '' ? null : id;
}

/** Created by container runtimes. */
const CONTAINER_FILES = ['/.dockerenv', '/run/.containerenv'];

/** A container's files are usually lost at restart. */
export async function isInContainer(env: Env): Promise<boolean> {
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined || (env['container'] ?? '') !== '') return true;
  const exist = await Promise.all(
    CONTAINER_FILES.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return exist.includes(true);
}

/** Returns the system's id of this machine, or null. */
export async function readSystemId(): Promise<string | null> {
  if (process.platform === 'win32') return readMachineGuid();
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (/^[0-9a-f]{32}$/.test(text.trim())) return text.trim();
  }
  return null;
}

/** 32-bit programs do not see the 64-bit view by default. */
async function readMachineGuid(): Promise<string | null> {
  const reg = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\reg.exe`;
  const query = ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid', '/reg:64'];
  const { stdout } = await promisify(execFile)(reg, query).catch(() => ({ stdout: '' }));
  return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(stdout)?.[1] ?? null;
}
