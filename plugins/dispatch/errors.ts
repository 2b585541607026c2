import { refusals, type ErrorCatalog } from '../../kernel/contract/index.js';

export const ERRORS = {
  no_agent: [
    409,
    'No enabled webhook names `agent.requested` for the item’s project, so no agent would start; `error.settings_url` is where one is created.',
    'No agent is listening',
  ],
} as const satisfies ErrorCatalog;

export const refusal = refusals(ERRORS);
