import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram, type AgentProgram } from './programs.js';

export interface InstallerAccount {
  username: string;
  password: string;
}

export class TillInstallation {
  constructor(
    readonly dir: string,
    private readonly agent: AgentProgram,
  ) {}

  async install(server: string, project: string, account: InstallerAccount, licenseKey: string): Promise<void> {
    await mkdir(this.dir, { recursive: true });
    const where = ['--server', server, '--project', project, '--dir', this.dir, '--username', account.username];
    await runProgram(this.agent.path, ['--action', 'install', ...where, '--restart', '--yes', '--json'], {
      SVC_PASSWORD: account.password,
      SVC_PRODUCT_KEY: licenseKey,
      SHOP_NODE: process.execPath,
      SHOP_AGENT: this.agent.path,
    });
  }

  async readVersion(): Promise<string> {
    return (JSON.parse(await readFile(join(this.dir, 'manifest.json'), 'utf8')) as { version: string }).version;
  }

  async findPid(): Promise<number | null> {
    const text = await readFile(join(this.dir, 'till.pid'), 'utf8').catch(() => '');
    const pid = Number(text);
    return pid > 0 && isRunning(pid) ? pid : null;
  }

  /**
   * Stops the till and waits, because its folder is deleted afterwards.
   * @throws when it does not end within 20 seconds
   */
  async stop(): Promise<void> {
    const pid = await this.findPid();
    if (pid === null) return;
    process.kill(pid, 'SIGTERM');
    for (const end = Date.now() + 20_000; (await this.findPid()) !== null;) {
      if (Date.now() > end) throw new Error(`the till, process ${pid}, does not end`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
