import type { SearchQuery } from '../../ports/domain/search.js';

export const createSearchQuery = (text: string, limit = 10): SearchQuery => ({
  text,
  words: text.toLowerCase().split(/\s+/),
  limit,
  principal: { kind: 'session', session_id: 's', account_id: 'a', username: 'ann', role: 'admin' },
  signal: new AbortController().signal,
});
