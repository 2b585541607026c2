import type { SearchQuestion } from '../../ports/domain/search.js';

export const questionOf = (text: string, limit = 10): SearchQuestion => ({
  text,
  words: text.toLowerCase().split(/\s+/),
  limit,
  principal: { kind: 'session', session_id: 's', account_id: 'a', username: 'ann', role: 'admin' },
  signal: new AbortController().signal,
});
