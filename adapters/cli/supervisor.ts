/** The timer runs on the event loop, so systemd restarts a blocked service. */
import { spawn } from 'node:child_process';
import type { SupervisorEnv } from '../../config/supervisor-env.js';

const NOTIFY_PROGRAM = 'systemd-notify';

export class SupervisorNotifier {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly supervision: SupervisorEnv | null,
    private readonly failed: (reason: string) => void,
  ) {}

  async notifyReady(): Promise<void> {
    if (this.supervision === null) return;
    await this.#notify('READY=1', this.supervision.socket);
    const { everyMs, socket } = this.supervision;
    if (everyMs === null) return;
    this.#timer = setInterval(() => void this.#notify('WATCHDOG=1', socket), everyMs);
    this.#timer.unref();
  }

  async notifyStopping(): Promise<void> {
    clearInterval(this.#timer);
    if (this.supervision !== null) await this.#notify('STOPPING=1', this.supervision.socket);
  }

  #notify(word: string, socket: string): Promise<void> {
    return new Promise((resolve) => {
      const child = spawn(NOTIFY_PROGRAM, [word], {
        env: { PATH: '/usr/bin:/bin', NOTIFY_SOCKET: socket },
        stdio: 'ignore',
      });
      child.unref();
      child.once('error', (error) => {
        this.failed(`${NOTIFY_PROGRAM} cannot be run: ${error.message}`);
        resolve();
      });
      child.once('exit', (code, signal) => {
        if (code !== 0) this.failed(`${NOTIFY_PROGRAM} ${word} exited with ${code ?? signal ?? 'nothing'}`);
        resolve();
      });
    });
  }
}
