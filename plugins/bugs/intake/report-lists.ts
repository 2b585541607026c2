/**
 * A list of reports, each treated as if it had come alone and in its turn (contract 21, intake); reports of one
 * grouping key are counted together.
 *
 * Reports that may belong to one group (same project and class) and whose keys are unknown are recorded in their order,
 * because the order decides which group an unknown origin joins: first one report of each key, which makes the item,
 * and then all others. Rejected: all in parallel (the answers would differ from those of single reports), and all in
 * sequence (a hundred commits).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { ListedReport, Recorded } from '../../../ports/domain/bugs.js';
import { Acceptance } from './acceptance.js';
import type { AcceptedReport } from './incoming-report.js';
import { ReportIntake } from './intake.js';
import { Placing } from './placing.js';

type Result = PromiseSettledResult<Recorded>;

/** A report and its place in the list. */
interface Listed {
  at: number;
  accepted: AcceptedReport;
}

@injectable()
export class ReportLists {
  constructor(
    @inject(Acceptance) private readonly acceptance: Acceptance,
    @inject(Placing) private readonly placing: Placing,
    @inject(ReportIntake) private readonly intake: ReportIntake,
  ) {}

  /** The results in the list's order; a report that is refused, or fails, stops no other. */
  async record(given: readonly ListedReport[]): Promise<Result[]> {
    const results: Result[] = [];
    const listed: Listed[] = [];
    for (const [at, { report, details }] of given.entries()) {
      // Cleaning and grouping a hundred large reports in one turn would block all other requests.
      await turn();
      const [accepted] = await Promise.allSettled([this.acceptance.accept(report, details)]);
      if (accepted.status === 'fulfilled') listed.push({ at, accepted: accepted.value });
      else results[at] = accepted;
    }
    const classes = groupsOf(listed, ({ report }) => [report.project, report.exception_class ?? null]);
    await Promise.all(classes.map((one) => this.#class(one, results)));
    return results;
  }

  async #class(listed: readonly Listed[], results: Result[]): Promise<void> {
    const groups = groupsOf(listed, ({ keyed }) => [keyed.dedup_key]);
    const known = await Promise.all(groups.map(async ([first]) => first && (await this.placing.known(first.accepted))));
    await Promise.all(groups.filter((_, i) => known[i]).map((group) => this.#together(group, results)));
    for (const group of groups.filter((_, i) => !known[i])) {
      await this.#together(group.slice(0, 1), results);
      await this.#together(group.slice(1), results);
    }
  }

  async #together(listed: readonly Listed[], results: Result[]): Promise<void> {
    const settled = await Promise.allSettled(listed.map(({ accepted }) => this.intake.recordAccepted(accepted)));
    for (const [i, { at }] of listed.entries()) results[at] = settled[i] as Result;
  }
}

/** The reports in groups, in the order of each group's first report. */
function groupsOf(listed: readonly Listed[], nameOf: (accepted: AcceptedReport) => readonly unknown[]): Listed[][] {
  const groups = new Map<string, Listed[]>();
  for (const one of listed) {
    const name = JSON.stringify(nameOf(one.accepted));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
