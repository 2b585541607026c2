import type { HttpRequest } from '../../../kernel/contract/index.js';

export const BASE_PATH = '/api/bugtracker/v1';
export const REPORT_SCOPE = 'bugtracker:report';
export const READ_SCOPE = 'bugtracker:read';
export const MANAGE_SCOPE = 'bugtracker:manage';

export const getIdParam = (request: HttpRequest): string => request.params['id'] ?? '';
