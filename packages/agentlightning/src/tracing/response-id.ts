/** The gateway names its answers after their calls: `chatcmpl-…`, `resp_…`, `msg_…`. */
export function callOfResponse(id: unknown): string | null {
  return typeof id === 'string' && id !== '' ? id.replace(/^[a-z]+[-_]/, '') : null;
}
