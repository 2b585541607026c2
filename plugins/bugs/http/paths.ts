/** What the routes of this plugin share: where they stand and which scopes they ask for (contract 20, endpoints). */
import type { HttpRequest } from '../../../kernel/contract.js';

export const BASE = '/api/bugtracker/v1';
export const REPORT = 'bugtracker:report';
export const READ = 'bugtracker:read';
export const MANAGE = 'bugtracker:manage';

/** The id or ref in the path. */
export const idOf = (request: HttpRequest): string => request.params['id'] ?? '';
