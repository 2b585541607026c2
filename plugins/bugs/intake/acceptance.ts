/**
 * First step of the intake: the stored form of the report, the rule that mutes it, and its keys.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { DAY_MS } from '../../../lib/time.js';
import type { Mute, RecordOptions, Report } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';
import { GroupingRuleBook } from '../grouprules/book.js';
import type { Ruling } from '../grouprules/compiled-rule.js';
import { applyRuling } from '../grouprules/ruled-input.js';
import type { Moment } from '../item/first-document.js';
import { Persons } from '../store/people.js';
import { ReportFilters } from '../muting/report-filters.js';
import { ClientRefs } from '../store/client-refs.js';
import { cleanReport } from '../text/clean.js';
import { scrubReport } from '../text/scrub.js';
import type { AcceptedReport } from './incoming-report.js';

/**
 * Limits how far a report with a public key can move a first sighting back: to the retention of
 * payloads.
 */
const OLDEST_PUBLIC_MS = 30 * DAY_MS;

const isPublic = ({ intake_key }: Report): boolean => typeof intake_key === 'string';

@injectable()
export class Acceptance {
  readonly #persons: Persons;

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'projects' | 'clock' | 'grouping' | 'peopleKey'>,
    @inject(ReportFilters) private readonly filters: ReportFilters,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(GroupingRuleBook) private readonly rules: GroupingRuleBook,
  ) {
    this.#persons = new Persons(deps.peopleKey);
  }

  /** @throws ServiceError unknown_project */
  async accept(given: Report, details: RecordOptions['details']): Promise<AcceptedReport> {
    const scrubbed = scrubReport(cleanReport(given));
    const { project, client_ref } = scrubbed;
    await this.deps.projects.accepting(project, 'reports');
    const found = this.#rulingOf(scrubbed);
    const ruling = found instanceof Promise ? await found : found;
    const titled = ruling === null || ruling.title === null ? scrubbed : { ...scrubbed, title: ruling.title };
    // Ignore rules match the stored form, so a rule created from the text on a page matches again.
    const muting = given.muted_by === undefined ? this.#muteOf(titled) : given.muted_by;
    const mute = muting instanceof Promise ? await muting : muting;
    const report = mute === null ? titled : { ...titled, muted_by: mute };
    const ref = client_ref ? { id: this.refs.idOf(project, client_ref, isPublic(report)), opened: false } : null;
    const keyed = applyRuling(scrubbed, ruling, this.deps.grouping.masks);
    const person = given.user ? this.#persons.printOf(project, given.user) : null;
    const { now, occurred } = this.#moment(report);
    return { report, own_title: scrubbed.title, details, person, keyed, ref, now, occurred };
  }

  /** Uses the rule cache, which does not read the store when no rule matches. */
  #muteOf(report: Report): Mute | null | Promise<Mute | null> {
    return report.type === 'error' ? this.filters.match(report) : null;
  }

  #rulingOf(report: Report): Ruling | null | Promise<Ruling | null> {
    return report.type === 'error' ? this.rules.ruling(report) : null;
  }

  #moment(report: Report): Moment {
    const now = this.deps.clock.now();
    const occurred = typeof report.occurred_at === 'string' ? Date.parse(report.occurred_at) : now;
    if (Number.isNaN(occurred)) return { now, occurred: now };
    return { now, occurred: Math.min(Math.max(occurred, isPublic(report) ? now - OLDEST_PUBLIC_MS : occurred), now) };
  }
}
