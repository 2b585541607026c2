import { hash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DAY_MS } from '../../../lib/time.js';
import type { Mute, RecordOptions, Report } from '../../../ports/domain/bugs.js';
import { DEPS } from '../deps.js';
import { computeGrouping, type Grouping, type GroupingInput } from '../grouping/grouping-key.js';
import { GroupingRuleCache } from '../grouping-rules/rule-cache.js';
import type { RuleOutcome } from '../grouping-rules/compiled-rule.js';
import { applyRuleOutcome } from '../grouping-rules/rule-outcome.js';
import type { KeyedReport } from '../groups/grouping-keys.js';
import type { ReportTimes } from '../item/first-document.js';
import { PersonHasher } from '../store/people-sketches.js';
import { CombinedReportFilter } from '../muting/report-filters.js';
import { ClientRefService } from '../store/client-refs.js';
import { cleanReport } from '../text/clean-report.js';
import { scrubReport } from '../text/scrub-report.js';
import type { AcceptedReport } from './incoming-report.js';
import type { GroupingSettings } from '../grouping/grouping-settings.js';
import type { Clock } from '../../../ports/clock.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';

/** Limits how far a public key can move a first sighting back: to the retention of payloads. */
const MAX_PUBLIC_AGE_MS = 30 * DAY_MS;

const MAX_CACHED_GROUPINGS = 500;
/** A cached grouping can retain its whole input. */
const MAX_CACHED_CHARACTERS = 16_384;

function formatGroupingInput(report: GroupingInput): string {
  const fields: Record<keyof GroupingInput, unknown> = {
    type: report.type,
    project: report.project,
    title: report.title,
    error_message: report.error_message,
    exception_class: report.exception_class,
    file_path: report.file_path,
    function_name: report.function_name,
    stack_trace: report.stack_trace,
    message_template: report.message_template,
    members: report.members,
    fingerprint: report.fingerprint,
  };
  return JSON.stringify(fields);
}

const hasIntakeKey = ({ intake_key }: Report): boolean => typeof intake_key === 'string';

@injectable()
export class ReportAcceptor {
  readonly #persons: PersonHasher;
  /** Most reports of a storm are equal, and grouping is slow. */
  readonly #groupings = new BoundedMap<Grouping>({ most: MAX_CACHED_GROUPINGS });

  constructor(
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.grouping) private readonly grouping: GroupingSettings,
    @inject(DEPS.peopleKey) peopleKey: Buffer,
    @inject(CombinedReportFilter) private readonly filters: CombinedReportFilter,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(GroupingRuleCache) private readonly rules: GroupingRuleCache,
  ) {
    this.#persons = new PersonHasher(peopleKey);
  }

  /** @throws ServiceError unknown_project */
  async accept(given: Report, details: RecordOptions['details']): Promise<AcceptedReport> {
    const scrubbed = scrubReport(cleanReport(given));
    const { project, client_ref } = scrubbed;
    await this.projects.requireAccepting(project, 'reports');
    const found = this.#evaluateRules(scrubbed);
    const ruling = found instanceof Promise ? await found : found;
    const titled = ruling === null || ruling.title === null ? scrubbed : { ...scrubbed, title: ruling.title };
    // Matches the stored form, so a rule created from a page's text matches.
    const muting = given.muted_by === undefined ? this.#findMute(titled) : given.muted_by;
    const mute = muting instanceof Promise ? await muting : muting;
    const report = mute === null ? titled : { ...titled, muted_by: mute };
    const ref = client_ref ? { id: this.refs.toRefId(project, client_ref, hasIntakeKey(report)), opened: false } : null;
    const keyed = this.#computeKeys(scrubbed, ruling);
    const person = given.user ? this.#persons.toFingerprint(project, given.user) : null;
    const { now, occurred } = this.#getMoment(report);
    return { report, own_title: scrubbed.title, details, person, keyed, ref, now, occurred };
  }

  #computeKeys(report: Report, ruling: RuleOutcome | null): KeyedReport {
    const { masks } = this.grouping;
    const input = ruling === null || ruling.fingerprint === null ? formatGroupingInput(report) : null;
    if (input === null || input.length > MAX_CACHED_CHARACTERS) return applyRuleOutcome(report, ruling, masks);
    const key = hash('sha256', input);
    let grouping = this.#groupings.get(key);
    if (grouping === undefined) {
      grouping = computeGrouping(report, masks);
      this.#groupings.set(key, grouping);
    }
    return { project: report.project, report, ...grouping };
  }

  /** Reads no store when no rule matches. */
  #findMute(report: Report): Mute | null | Promise<Mute | null> {
    return report.type === 'error' ? this.filters.findMute(report) : null;
  }

  #evaluateRules(report: Report): RuleOutcome | null | Promise<RuleOutcome | null> {
    return report.type === 'error' ? this.rules.evaluate(report) : null;
  }

  #getMoment(report: Report): ReportTimes {
    const now = this.clock.now();
    const occurred = typeof report.occurred_at === 'string' ? Date.parse(report.occurred_at) : now;
    if (Number.isNaN(occurred)) return { now, occurred: now };
    return {
      now,
      occurred: Math.min(Math.max(occurred, hasIntakeKey(report) ? now - MAX_PUBLIC_AGE_MS : occurred), now),
    };
  }
}
