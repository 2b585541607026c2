/** /bugs/{ref} (contract 80). Report texts are untrusted. */
import { View, type HttpRequest } from '../../../../kernel/contract/index.js';
import { notFound } from '../../../../kernel/errors.js';
import { toBugCaller } from '../../caller.js';
import { getQueryText, parseOccurrenceFilter, type ItemSectionInput, type ItemSection } from './section.js';
import { buildChangesSection } from './changes-section.js';
import { buildCrashSection } from './crash-section.js';
import { buildFactsSection } from './facts-section.js';
import { buildChartSection } from './chart-section.js';
import { buildHeaderSection } from './header-section.js';
import { buildLinksSection } from './links-section.js';
import { buildMergingSection } from './merging-section.js';
import { buildOccurrencesSection } from './occurrences-section.js';
import { buildReleasesSection } from './releases-section.js';
import { buildSpreadSection } from './spread-section.js';
import { buildStreamSection } from './stream-section.js';
import { getListContext } from '../shared/list-context.js';
import type { FormProblem } from '../shared/form.js';
import { getRef, type PageDeps } from '../shared/page-deps.js';

const SECTIONS: readonly ItemSection[] = [
  buildHeaderSection,
  buildCrashSection,
  buildOccurrencesSection,
  buildStreamSection,
  buildChartSection,
  buildReleasesSection,
  buildChangesSection,
  buildFactsSection,
  buildSpreadSection,
  buildMergingSection,
  buildLinksSection,
];

export async function buildItemView(
  page: PageDeps,
  request: HttpRequest,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const caller = toBugCaller(request.principal);
  const detail = await page.services.lists.getDetail(getRef(request), caller, { occurrences: 0 });
  const { item } = detail;
  const doc = await page.deps.items.get(item.id);
  if (doc === null) throw notFound('issue with this id');
  const slot = /^\d{1,3}$/.exec(getQueryText(request, 'occurrences'))?.[0];
  const event = await page.services.events.getEvent(
    doc,
    parseOccurrenceFilter(request),
    slot === undefined ? null : Number(slot),
  );
  const about: ItemSectionInput = {
    page,
    request,
    caller,
    detail,
    item,
    doc,
    event,
    context: getListContext(request),
    problem,
  };
  const fields = await Promise.all(SECTIONS.map(async (section) => section(about)));
  return new View('bug', Object.assign({}, ...fields, problem) as Record<string, unknown>);
}
