"""The words that join an opener and a closer which a sentence names together.

Example: ``entre <think> y </think>`` in Spanish (text rule 4.12). Several words count
as one entry, because some languages repeat the article: ``és a`` in Hungarian.
"""

from __future__ import annotations

SPACED: dict[str, tuple[str, ...]] = {
    "ar": ("أو", "إلى", "حتى"),
    "az": ("və",),
    "bg": ("и", "или", "до"),
    "bn": ("এবং", "ও", "থেকে"),
    "ca": ("i", "o", "fins a"),
    "cs": ("a", "až", "do", "nebo"),
    "da": ("og", "eller", "til"),
    "de": ("und", "oder", "bis", "bzw.", "dann", "und dem", "bis zu", "bis zum"),
    "el": ("και", "έως", "ως", "ή", "και στο", "και το"),
    "en": (
        "and",
        "or",
        "to",
        "then",
        "through",
        "until",
        "up to",
        "followed by",
        "and the",
        "to the",
    ),
    "es": ("y", "e", "o", "u", "a", "hasta", "y el", "y la"),
    "et": ("ja", "kuni", "või"),
    "eu": ("eta",),
    "fa": ("و", "تا", "یا"),
    "fi": ("ja", "tai"),
    "fil": ("at", "o", "hanggang"),
    "fr": ("et", "ou", "à", "jusqu'à", "jusqu’à", "et le", "et la"),
    "gu": ("અને",),
    "hi": ("और", "व", "तथा", "या", "से"),
    "hr": ("i", "ili", "do"),
    "hu": ("és", "vagy", "és a", "és az"),
    "hy": ("և", "եւ"),
    "id": ("dan", "atau", "sampai", "hingga"),
    "is": ("og", "eða"),
    "it": ("e", "o", "ed", "a", "fino a", "e il", "e la"),
    "ka": ("და",),
    "kk": ("және",),
    "lt": ("ir", "iki"),
    "lv": ("un", "līdz"),
    "mr": ("आणि",),
    "nl": ("en", "of", "tot", "en de"),
    "no": ("og", "eller", "til"),
    "pa": ("ਅਤੇ",),
    "pl": ("i", "a", "oraz", "lub", "do"),
    "pt": ("e", "ou", "a", "até", "e o", "e a"),
    "ro": ("și", "şi", "sau", "până la"),
    "ru": ("и", "или", "до"),
    "sk": ("a", "až", "do", "alebo"),
    "sl": ("in", "ali", "do"),
    "sq": ("dhe",),
    "sr": ("и", "или", "до"),
    "sv": ("och", "eller", "till", "respektive"),
    "sw": ("na", "au", "hadi"),
    "ta": ("மற்றும்",),
    "te": ("మరియు",),
    "tr": ("ve", "ile", "veya"),
    "uk": ("і", "й", "та", "до", "або"),
    "ur": ("اور", "سے", "یا"),
    "uz": ("va",),
    "vi": ("và", "đến", "tới", "hoặc"),
}
"""Language -> words with a blank on both sides."""

UNSPACED: dict[str, tuple[str, ...]] = {
    "ar": ("و",),
    "he": ("לבין", "ו", "ו-", "ל", "ל-", "או", "עד"),
    "ja": ("と", "や", "から", "または", "および"),
    "ko": ("와", "과", "및", "나", "이나", "또는", "그리고", "에서", "부터"),
    "lo": ("ແລະ",),
    "km": ("និង",),
    "my": ("နှင့်",),
    "th": ("และ", "กับ", "ถึง", "หรือ"),
    "zh": ("和", "与", "與", "及", "或", "到", "至"),
}
"""Language -> words of scripts without blanks, and particles that are written together
with the word before or after them. Blanks may stand beside them."""
