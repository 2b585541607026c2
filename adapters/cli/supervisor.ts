/**
 * Notifies systemd about readiness, liveness and stopping. The timer runs on the event loop, so
 * systemd restarts a blocked service. Node has no Unix datagram sockets, so the unit needs
 * `NotifyAccess=all`.
 */
import { spawn } from 'node:child_process';
import type { Supervision } from '../../config/supervisor.js';

const PROGRAM = 'systemd-notify';

export class Supervisor {
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly supervision: Supervision | null,
    private readonly failed: (reason: string) => void,
  ) {}

  async ready(): Promise<void> {
    if (this.supervision === null) return;
    await this.#say('READY=1', this.supervision.socket);
    const { everyMs, socket } = this.supervision;
    if (everyMs === null) return;
    this.#timer = setInterval(() => void this.#say('WATCHDOG=1', socket), everyMs);
    this.#timer.unref();
  }

  async stopping(): Promise<void> {
    clearInterval(this.#timer);
    if (this.supervision !== null) await this.#say('STOPPING=1', this.supervision.socket);
  }

  #say(word: string, socket: string): Promise<void> {
    return new Promise((resolve) => {
      const child = spawn(PROGRAM, [word], { env: { PATH: '/usr/bin:/bin', NOTIFY_SOCKET: socket }, stdio: 'ignore' });
      child.unref();
      child.once('error', (error) => {
        this.failed(`${PROGRAM} cannot be run: ${error.message}`);
        resolve();
      });
      child.once('exit', (code, signal) => {
        if (code !== 0) this.failed(`${PROGRAM} ${word} ended with ${code ?? signal ?? 'nothing'}`);
        resolve();
      });
    });
  }
}
