/** The service on a folder of its own, in a time that the story sets. */
import { spawn, type ChildProcess } from 'node:child_process';
import { CLI_PATH, TestService } from '../support/service.js';

const SHIFTED = new URL('./shifted-date.js', import.meta.url).href;

/**
 * Nothing is refused for its number, and no write waits for the disk: two weeks of calls come
 * within minutes. Between two of them the service was away, so it holds no silence against a
 * monitor: what is down says so itself.
 */
export const UNLIMITED = {
  SVC_STORAGE__DURABILITY: 'normal',
  SVC_LIMITS__INTAKE_PER_MINUTE: '0',
  SVC_LIMITS__API_PER_MINUTE: '0',
  SVC_LIMITS__PUBLIC_PER_MINUTE: '0',
  SVC_LIMITS__BULK_PER_MINUTE: '0',
  SVC_WATCHDOG__ERROR_STATUS_IS_DOWN: 'true',
};

/** A service whose present is not ours. */
export class ShiftedService {
  private constructor(
    readonly service: TestService,
    private readonly child: ChildProcess,
  ) {}

  /** @param dataDir where it keeps everything; made when it is missing */
  static async started(dataDir: string): Promise<ShiftedService> {
    const service = await TestService.create(UNLIMITED, dataDir);
    const child = spawn(process.execPath, ['--import', SHIFTED, CLI_PATH, 'serve'], {
      env: service.env,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.on('close', (code) => reject(new Error(`the service exited with ${code}: ${said}`)));
      child.stdout?.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString('utf8')).slice(-10_000);
        const url = /^listening on (http\S+)$/m.exec(said)?.[1];
        if (url === undefined || service.url !== '') return;
        service.url = url;
        resolve();
      });
    });
    return new ShiftedService(service, child);
  }

  /** Its present is so long before ours. @param ms 0: ours */
  ago(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.child.once('message', () => resolve());
      this.child.send({ shift: -ms });
    });
  }

  /** Waits for its end. */
  async end(): Promise<void> {
    await new Promise((resolve) => {
      this.child.on('close', resolve);
      this.child.kill('SIGTERM');
    });
  }
}
