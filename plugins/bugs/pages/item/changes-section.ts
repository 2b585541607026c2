import { SEVERITIES } from '../../item/severity.js';
import { getQueryText, type ItemSectionInput } from './section.js';
import { buildAgentCommands } from './facts-section.js';
import { listStatusMoves } from './status-moves.js';

const MAX_ASSIGNEE_SUGGESTIONS = 100;
/** The first allowed status gets its own button. */
const PRIMARY_STATUSES = ['resolved', 'closed', 'open'] as const;

export async function buildChangesSection({ page, request, item, problem }: ItemSectionInput): Promise<object> {
  const moves = listStatusMoves(item.status, item.claim !== null);
  const primary = PRIMARY_STATUSES.flatMap((to) => moves.find((move) => move.to === to) ?? [])[0] ?? moves[0] ?? null;
  const typed = problem.form === 'labels' ? problem.typed : undefined;
  return {
    primary,
    moves: moves.toSorted((a, b) => Number(b === primary) - Number(a === primary)),
    may_merge: moves.some(({ to }) => to === 'duplicate'),
    accounts: await page.deps.accounts.listUsernames(MAX_ASSIGNEE_SUGGESTIONS),
    severities: SEVERITIES.toReversed(),
    tags_text: typed?.['tags'] ?? item.tags.join(', '),
    agent_text: typed?.['target_agent'] ?? item.target_agent,
    commands: buildAgentCommands(item, page.baseUrl()),
    open: problem.form ?? (getQueryText(request, 'find') !== '' || request.query['find'] !== undefined ? 'merge' : ''),
  };
}
