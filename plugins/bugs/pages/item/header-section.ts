import { MUTE_FORM, type ItemAction } from '../../../../ports/domain/bugs.js';
import type { AgentOffer, ItemFactProvider } from '../../../../ports/domain/item-facts.js';
import { toHeadline } from '../../../../lib/text/error-title.js';
import { formatLiveTopic } from '../../../../ports/domain/live-topics.js';
import { toBugCaller } from '../../caller.js';
import type { ItemSectionInput } from './section.js';
import { toLeaseView } from './facts-section.js';
import { buildListUrl, toContextSuffix } from '../shared/list-context.js';

export async function buildHeaderSection({ page, request, item, doc, context }: ItemSectionInput): Promise<object> {
  const { services, deps } = page;
  const { name } = toBugCaller(request.principal);
  const { message, kind } = toHeadline(item.title, item.exception_class);
  const rule = item.muted_by_rule_id;
  const [mute_rule, offers] = await Promise.all([
    rule === null ? null : services.filters.findRulePage(rule),
    Promise.all(page.agents().map((assigner) => assigner.getOffer(item))),
  ]);
  const agent = offers.find((offer) => offer !== null) ?? null;
  const actions = listActions(page.actions(), item);
  return {
    title: `${item.ref} ${item.title}`,
    headline: message,
    kind,
    // The heading says it already.
    message_text: [message, item.title].includes(item.error_message?.trim() ?? '') ? null : item.error_message,
    crumbs: [{ label: 'Issues', href: buildListUrl(context) }, { label: item.ref }],
    // A rejected form's POST address does not support GET.
    here: `/bugs/${item.ref}`,
    keep: toContextSuffix(context),
    list_url: buildListUrl(context),
    live_topics: formatTopics(item.id, page.facts()),
    item,
    // A bug or feature that was reported once has no events to compare.
    counted: item.type === 'error' || item.hit_count > 1,
    is_error: item.type === 'error',
    outside: Object.fromEntries(item.untrusted_fields.map((field) => [field, true])),
    claim: toLeaseView(item, deps.clock.now()),
    mine: item.assignee === name,
    muted_until: doc.muted_until ?? null,
    mute_rule,
    mute_form: MUTE_FORM,
    mute_similar: actions.find(({ mutes }) => mutes)?.href ?? null,
    actions: actions.filter(({ mutes }) => !mutes),
    agent,
    waiting_for: getPendingAgent(agent, item.claim !== null),
  };
}

/** The agent that was requested and has not claimed the item. */
const getPendingAgent = (offer: AgentOffer | null, isClaimed: boolean): AgentOffer['current'] =>
  isClaimed ? null : (offer?.current ?? null);

interface ShownAction {
  label: string;
  icon: string;
  shortcut: string | null;
  href: string;
  mutes: boolean;
}

const listActions = (actions: readonly ItemAction[], item: ItemSectionInput['item']): ShownAction[] =>
  actions.flatMap((action) => {
    const { label, icon, shortcut = null, mutes = false } = action;
    const href = action.href(item);
    return href === null ? [] : [{ label, icon, shortcut, href, mutes }];
  });

const formatTopics = (id: string, facts: readonly ItemFactProvider[]): string =>
  ['bug', ...facts.flatMap(({ topic }) => topic ?? [])].map((name) => formatLiveTopic(name, id)).join(' ');
