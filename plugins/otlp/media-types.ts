export const JSON_TYPE = 'application/json';
export const PROTOBUF_TYPE = 'application/x-protobuf';
