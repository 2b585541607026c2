import { refusals, type ErrorCatalog } from '../../kernel/contract/index.js';

export const ERRORS = {
  no_agent: [
    409,
    'No enabled webhook sends `agent.requested` for the item’s project, so no agent would start; create one at `error.settings_url`.',
    'No agent is listening',
  ],
} as const satisfies ErrorCatalog;

export const refusal = refusals(ERRORS);
