/**
 * The one way in for reports of every kind (contracts 20 and 21): accept → place → count → follow up. Each step is a
 * class of its own; this file holds their order and the conditions between them.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import type { Recorded, RecordOptions, Report } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';
import { hashOf } from '../item/document-ids.js';
import { ClientRefs } from '../store/client-refs.js';
import { Items } from '../store/items.js';
import { Acceptance } from './acceptance.js';
import { Counting } from './counting.js';
import { FollowUp, type FollowedUp } from './follow-up.js';
import type { AcceptedReport, Counted } from './incoming-report.js';
import { Placing } from './placing.js';
import { RecordedReport } from './recorded-report.js';

/** How often a report may begin anew, because its item was deleted or another call has just made it. */
const BEGINNINGS = 20;

@injectable()
export class ReportIntake {
  /**
   * Lets reports with unknown keys of one family pass one after the other: of two new items one would only waste its
   * number.
   */
  readonly #deciding = new KeyedMutex();

  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'clock'>,
    @inject(Acceptance) private readonly acceptance: Acceptance,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(Placing) private readonly placing: Placing,
    @inject(Counting) private readonly counting: Counting,
    @inject(FollowUp) private readonly followUp: FollowUp,
    @inject(Items) private readonly items: Items,
  ) {}

  /**
   * Groups, counts and stores one report; resolves after the commit.
   * @throws ServiceError unknown_project
   */
  async record(given: Report, options: RecordOptions = {}): Promise<Recorded> {
    return this.recordAccepted(await this.acceptance.accept(given, options.details), options);
  }

  /** As `record`, for a report that has taken the first step. */
  async recordAccepted(accepted: AcceptedReport, options: RecordOptions = {}): Promise<Recorded> {
    for (let beginning = 0; beginning < BEGINNINGS; beginning++) {
      const counted = await this.#placeAndCount(accepted);
      if (counted !== null) return this.#answer(await this.followUp.of(counted), accepted, options);
    }
    throw conflict('The item changes too often at the moment; send the report again.');
  }

  /** Places and counts a report. Null: the report begins anew. */
  async #placeAndCount(accepted: AcceptedReport): Promise<Counted | null> {
    const { ref } = accepted;
    const leading = this.placing.known(accepted);
    const known = leading instanceof Promise ? await leading : leading;
    // A reference is nearly always new, and the write refuses a known one: so it is not looked up first.
    const isTried = known !== null && (ref === null || !this.refs.isSeenLately(ref.id));
    const counted = isTried ? await this.counting.atOnce(accepted, known) : null;
    if (counted !== null) return counted;

    const bound = ref === null ? null : await this.refs.find(ref.id);
    if (bound?.open_at === null) return this.counting.repeat(accepted, bound);
    if (bound !== null) return this.counting.withCare(accepted, this.placing.at(bound.item_id, accepted), bound);
    if (known !== null) return this.counting.withCare(accepted, known, null);
    const { project, bare_key } = accepted.keyed;
    return this.#deciding.run(hashOf(project, bare_key), () => this.#decideAndCount(accepted));
  }

  /** Decides and counts a report with an unknown key. */
  async #decideAndCount(accepted: AcceptedReport): Promise<Counted | null> {
    const place = await this.placing.decide(accepted);
    if (place.writes.length > 0) return this.counting.create(accepted, place);
    return (await this.counting.atOnce(accepted, place)) ?? this.counting.withCare(accepted, place, null);
  }

  #answer(
    { doc, outcome, regression, sampled, incoming }: FollowedUp,
    { report, own_title: title }: AcceptedReport,
    options: RecordOptions,
  ): Recorded | Promise<Recorded> {
    const now = this.deps.clock.now();
    const ignored_by = report.muted_by?.rule_id ?? null;
    const occurred = { outcome, dedup_key: incoming.key, regression, sampled, title, ignored_by };
    if (options.texts !== true) return new RecordedReport(doc, occurred, now, null);
    return this.items.view(doc).then((whole) => new RecordedReport(doc, occurred, now, whole));
  }
}
