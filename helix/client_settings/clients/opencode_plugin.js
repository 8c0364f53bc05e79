// Written by `helix connect opencode`, removed by `helix disconnect opencode`: hands Helix what happens in a session and
// puts what it remembers before the model. Whatever goes wrong, opencode goes on without it.
import { spawn } from "node:child_process"

const command = "{hook_argv}"
const limit = "{milliseconds}"
const most = 100_000

const ask = (payload) =>
  new Promise((resolve) => {
    try {
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill("SIGKILL"), limit + 200)
      let said = ""
      child.stdout.on("data", (piece) => (said += piece))
      child.stdin.on("error", () => undefined)
      child.on("error", () => resolve(""))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(said).context ?? "")
        } catch {
          resolve("")
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve("")
    }
  })

export const Helix = async ({ directory }) => {
  const notes = new Map() // session -> promises of texts that stand in its system prompt
  const waiting = new Map() // call -> promise of the text that was to be shown before it
  const tell = (name, session, more = {}) => ask({ hook_event_name: name, session_id: session, cwd: directory, ...more })
  const keep = (session, text) => notes.set(session, [...(notes.get(session) ?? []), text].slice(-4))

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (!session) return
      if (event.type === "session.created") keep(session, tell(event.type, session, { source: "startup" }))
      if (event.type === "session.idle" || event.type === "session.compacted") await tell(event.type, session)
      if (event.type === "session.deleted") {
        notes.delete(session)
        await tell(event.type, session)
      }
    },
    "command.execute.before": async (input, output) => {
      // What a command says is its file's word, which may be a repository's: its history is to say what was typed.
      const typed = `/${input.command} ${input.arguments}`.trim().slice(0, most)
      for (const part of output.parts) if (part.type === "text") part.metadata = { ...part.metadata, helix: typed }
    },
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const typed = texts.map((part) => part.metadata?.helix ?? part.text)
      keep(input.sessionID, tell("chat.message", input.sessionID, { prompt: typed.join("\n").slice(0, most) }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const text of await Promise.all(notes.get(input.sessionID) ?? [])) if (text) output.system.push(text)
    },
    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args }
      waiting.set(input.callID, await tell("tool.execute.before", input.sessionID, call))
    },
    "tool.execute.after": async (input, output) => {
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args }
      const end = { exit: output.metadata?.exit, output: String(output.output ?? "").slice(-most) }
      const texts = [waiting.get(input.callID), await tell("tool.execute.after", input.sessionID, { ...call, ...end })]
      waiting.delete(input.callID)
      for (const text of texts) if (text) output.output = `${output.output}\n\n${text}`
    },
  }
}
