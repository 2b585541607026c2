import { inject, injectable, PORT, type Logger } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import { ERROR_INTAKE, type ErrorIntake, type ErrorSender } from '../../ports/domain/errors.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { TokenPrincipal } from '../../ports/http/index.js';
import { findFirstText } from './attributes.js';
import type { LogRecord, ParsedLogs } from './log-record.js';
import { convertRecord, type ConvertedRecord } from './report-converter.js';

const MAX_CONCURRENT_REPORTS = 8;

export interface LogCaller {
  principal: TokenPrincipal;
  address: string;
}

export interface LogIntakeResult {
  rejected: number;
  sentence: string | null;
}

@injectable()
export class LogIntake {
  constructor(
    @inject(ERROR_INTAKE) private readonly errors: ErrorIntake,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  countRejection(): void {
    this.errors.countRejection('sdk');
  }

  /**
   * @throws the first error that was a service fault: the sender repeats the request, and records
   *   with a reference count once
   */
  async record({ records, skipped }: ParsedLogs, { principal, address }: LogCaller): Promise<LogIntakeResult> {
    const { id, name, token_kind } = principal;
    const sender: ErrorSender = { id, name, source: 'sdk', address, intake: token_kind === 'intake' };
    const lanes = new Map<string, ConvertedRecord[]>();
    const reasons = new Set<string>();
    let rejected = skipped;
    if (skipped > 0) reasons.add('a record is larger than 512 KiB');
    const reject = (why: string): void => {
      rejected++;
      reasons.add(why);
    };
    for (const record of records) {
      const project = await this.#resolveProject(record, principal);
      const read = project === null ? null : convertRecord(record, project);
      if (project === null) reject('neither the token nor service.name determines a project');
      else if (read === null) reject('a record without exception.type and exception.message is not an error');
      else lanes.set(toLaneKey(read), [...(lanes.get(toLaneKey(read)) ?? []), read]);
    }
    const faults: unknown[] = [];
    const rest = [...lanes.values()];
    const work = async (): Promise<void> => {
      for (let lane = rest.pop(); lane !== undefined; lane = rest.pop()) {
        for (const { report, details } of lane) {
          try {
            await this.errors.recordText(report, sender, details);
          } catch (error) {
            if (error instanceof ServiceError && error.status < 500) reject(error.message.replace(/\.$/, ''));
            else faults.push(error);
          }
        }
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_REPORTS }, work));
    if (faults.length > 0) {
      this.log.error({ err: faults[0], failed: faults.length }, 'log records could not be stored');
      throw faults[0];
    }
    return { rejected, sentence: rejected === 0 ? null : `Not accepted: ${[...reasons].slice(0, 3).join('; ')}.` };
  }

  /** For a token of all projects the one named like the service. */
  async #resolveProject({ resource }: LogRecord, { project }: TokenPrincipal): Promise<string | null> {
    if (project !== null) return project;
    const named = findFirstText(resource, 'service.name');
    return named === null ? null : ((await this.projects.get(named))?.slug ?? null);
  }
}

/** Reports that may share a group stay in order. */
const toLaneKey = ({ report }: ConvertedRecord): string => JSON.stringify([report.project, report.exception_class]);
