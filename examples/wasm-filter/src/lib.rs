// A WASM filter: refuses requests in which somebody says a word (config `word`, any case).
//
//   cargo build --release --target wasm32-unknown-unknown
//   hookgate filter test target/wasm32-unknown-unknown/release/forbidden_word.wasm --config word=bluebird
use extism_pdk::*;
use serde_json::{json, Value};

#[plugin_fn]
pub fn manifest() -> FnResult<Json<Value>> {
    Ok(Json(json!({ "abi": 1, "name": "forbidden-word", "version": "1.0.0", "hooks": ["request"] })))
}

#[plugin_fn]
pub fn on_request(Json(input): Json<Value>) -> FnResult<String> {
    let word = config::get("word")?.unwrap_or_default().to_lowercase();
    let request = &input["request"];
    if word.is_empty() || !(says(&request["system"], &word) || says(&request["messages"], &word)) {
        // Nothing said is `{"action":"continue"}`, and costs the gateway less.
        return Ok(String::new());
    }
    info!("refused a request for {}", input["ctx"]["model"]);
    Ok(json!({
        "action": "deny",
        "status": 400,
        "message": "The request contains a word that is not wanted here.",
        "code": "forbidden_word",
    })
    .to_string())
}

/// Whether a text in a list of messages contains the word. The gateway bounds how deep JSON is.
fn says(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => text.to_lowercase().contains(word),
        Value::Array(items) => items.iter().any(|item| says(item, word)),
        Value::Object(members) => members.values().any(|member| says(member, word)),
        _ => false,
    }
}
